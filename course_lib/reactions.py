"""Twenty textbook reactions, and where each atom of what they make may have come from.

They are of kinds that occur in the training text of the reaction model: they show what it does and
are no test set. Written from mapped reactions, mechanism as in any first book of organic chemistry.
"""

from typing import NamedTuple


class Reaction(NamedTuple):
    """A reaction with its truth."""

    name: str
    smiles: str
    sources: dict[int, list[int]]
    """Token of an atom after the arrow -> tokens before it that it may have come from.

    `[CLS]` is token 0. Atoms that a symmetry exchanges are all listed.
    """


def _reaction(name: str, smiles: str, sources: str) -> Reaction:
    pairs = (entry.split("<") for entry in sources.split())
    return Reaction(name, smiles, {int(a): [int(b) for b in bs.split(",")] for a, bs in pairs})


REACTIONS = (
    _reaction(
        "amide",
        "CC(=O)Cl.Nc1ccccc1>>CC(=O)Nc1ccccc1",
        "19<1 20<2 23<5 25<9 26<10 28<12,16 29<13,15 30<14 31<13,15 32<12,16",
    ),
    _reaction(
        "methyl benzoate",
        "CO.O=C(O)c1ccccc1>>COC(=O)c1ccccc1",
        "19<1 20<2 21<6 24<4 26<10 28<12,16 29<13,15 30<14 31<13,15 32<12,16",
    ),
    _reaction(
        "ethyl acetate",
        "CC(=O)O.CCO>>CCOC(C)=O",
        "13<9 14<10 15<11 16<2 18<1 21<5",
    ),
    _reaction(
        "anisole",
        "CI.Oc1ccccc1>>COc1ccccc1",
        "14<1 15<4 16<5 18<7,11 19<8,10 20<9 21<8,10 22<7,11",
    ),
    _reaction(
        "suzuki",
        "COc1ccc(Br)cc1.OB(O)c1ccccc1>>COc1ccc(-c2ccccc2)cc1",
        "29<1 30<2 31<3 33<5,12 34<6,11 35<7 38<20 40<22,26 41<23,25 42<24 43<23,25 44<22,26 "
        "47<6,11 48<5,12",
    ),
    _reaction(
        "reduction",
        "CC(=O)c1ccccc1.[BH4-].[Na+]>>CC(O)c1ccccc1",
        "20<1 21<2 23<5 25<7 27<9,13 28<10,12 29<11 30<10,12 31<9,13",
    ),
    _reaction(
        "grignard",
        "O=Cc1ccccc1.[CH3][Mg][Br]>>CC(O)c1ccccc1",
        "17<13 18<3 20<1 22<4 24<6,10 25<7,9 26<8 27<7,9 28<6,10",
    ),
    _reaction(
        "diels-alder",
        "C=CC=C.O=C1C=CC(=O)O1>>O=C1OC(=O)C2CC=CCC12",
        "23<8,18 25<10,15 27<20 28<10,15 31<8,18 33<12,14 35<1,6 36<3,4 38<3,4 39<1,6 40<12,14",
    ),
    _reaction(
        "claisen rearrangement",
        "C=CCOc1ccccc1>>C=CCc1ccccc1O",
        "15<4 17<3 18<1 19<8,12 21<9,11 22<10 23<9,11 24<8,12 25<6 27<5",
    ),
    _reaction(
        "ester hydrolysis",
        "COC(=O)c1ccccc1.[Na+].[OH-]>>O=C(O)c1ccccc1",
        "21<6 23<3 25<2 27<8 29<10,14 30<11,13 31<12 32<11,13 33<10,14",
    ),
    _reaction(
        "nitration",
        "COc1ccccc1.O=[N+]([O-])O>>COc1ccc([N+](=O)[O-])cc1",
        "20<1 21<2 22<3 24<5,9 25<6,8 26<7 28<14 31<12 33<16 35<6,8 36<5,9",
    ),
    _reaction(
        "reductive amination",
        "CCN.O=Cc1ccccc1.[BH4-].[Na+]>>CCNCc1ccccc1",
        "21<1 22<2 23<3 24<7 25<8 27<10,14 28<11,13 29<12 30<11,13 31<10,14",
    ),
    _reaction(
        "boc",
        "CC(C)(C)OC(=O)OC(=O)OC(C)(C)C.NCc1ccccc1>>CC(C)(C)OC(=O)NCc1ccccc1",
        "42<1,4,7,24,27,29 43<2,22 45<1,4,7,24,27,29 48<1,4,7,24,27,29 50<9,21 51<10,16 "
        "54<13,19 56<31 57<32 58<33 60<35,39 61<36,38 62<37 63<36,38 64<35,39",
    ),
    _reaction(
        "oxidation",
        "OCc1ccccc1.[O]=[Mn]=[O]>>O=Cc1ccccc1",
        "18<1 20<2 21<3 23<5,9 24<6,8 25<7 26<6,8 27<5,9",
    ),
    _reaction(
        "click",
        "C#Cc1ccccc1.[N-]=[N+]=NCc1ccccc1>>c1ccc(Cn2cc(-c3ccccc3)nn2)cc1",
        "28<23 30<22,24 31<21,25 32<19 34<18 35<17 37<1 38<3 41<4 43<6,10 44<7,9 45<8 46<7,9 "
        "47<6,10 50<13 51<15 54<21,25 55<22,24",
    ),
    _reaction(
        "sulfonamide",
        "CS(=O)(=O)Cl.Nc1ccccc1>>CS(=O)(=O)Nc1ccccc1",
        "23<1 24<2 27<5,9 31<5,9 33<13 34<14 36<16,20 37<17,19 38<18 39<17,19 40<16,20",
    ),
    _reaction(
        "snar",
        "CC(C)S.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)Sc1ncccc1F",
        "31<1,4 32<2 34<1,4 36<6 37<15 39<14 40<13 41<12 42<11 43<9 45<8",
    ),
    _reaction(
        "wittig",
        "C=P(c1ccccc1)(c1ccccc1)c1ccccc1.O=Cc1ccccc1>>C=Cc1ccccc1",
        "45<1 47<35 48<36 50<38,42 51<39,41 52<40 53<39,41 54<38,42",
    ),
    _reaction(
        "bromination",
        "BrBr.CC(=O)c1ccccc1>>O=C(CBr)c1ccccc1",
        "19<8 21<5 23<4 24<1,2 26<10 28<12,16 29<13,15 30<14 31<13,15 32<12,16",
    ),
    _reaction(
        "urea",
        "CCN.O=C=Nc1ccccc1>>CCNC(=O)Nc1ccccc1",
        "19<1 20<2 21<3 22<7 25<5 27<9 28<10 30<12,16 31<13,15 32<14 33<13,15 34<12,16",
    ),
)
