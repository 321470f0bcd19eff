"""A hundred more reactions: ten kinds, each with ten groups of atoms put in for R."""

GROUPS = ("C", "CC", "CCC", "CC(C)", "C1CC1", "C1CCCC1", "FC(F)(F)C", "COCC", "N#CC", "ClCC")
"""Each ends in the atom that is bound to the rest, or closes its ring there."""

KINDS = (
    "{R}C(=O)Cl.Nc1ccccc1>>{R}C(=O)Nc1ccccc1",
    "{R}C(=O)O.CCO>>{R}C(=O)OCC",
    "{R}C(=O)OC.[Na+].[OH-]>>{R}C(=O)O",
    "{R}CBr.Oc1ccc(C)cc1.O=C([O-])[O-].[K+].[K+]>>{R}COc1ccc(C)cc1",
    "{R}C(=O)c1ccccc1.[BH4-].[Na+]>>{R}C(O)c1ccccc1",
    "{R}CO.O=[Cr](=O)=O>>{R}C=O",
    "{R}CN.CS(=O)(=O)Cl.CCN(CC)CC>>{R}CNS(C)(=O)=O",
    "{R}CN.CC(C)(C)OC(=O)OC(=O)OC(C)(C)C>>{R}CNC(=O)OC(C)(C)C",
    "{R}Oc1ccc(Br)nc1.OB(O)c1ccccc1.[Pd]>>{R}Oc1ccc(-c2ccccc2)nc1",
    "{R}Oc1ccc([N+](=O)[O-])cc1.[Fe].[Cl-].[NH4+]>>{R}Oc1ccc(N)cc1",
)

HUNDRED = [kind.format(R=group) for kind in KINDS for group in GROUPS]
