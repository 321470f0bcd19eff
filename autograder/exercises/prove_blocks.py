"""Prove that a built proof is marked rightly: valid orders in full, all others not."""

import itertools

from autograder.exercises.assignment import ProofBlocks
from autograder.exercises.proof import Fault, Proof


def prove_blocks(exercise: ProofBlocks) -> Proof:
    blocks, proof = exercise.blocks, Proof(exercise.name, exercise.kind, tests=1)
    file = f"{exercise.folder.parent.name}/{exercise.name}/proof.toml"

    def fault(problem: str) -> None:
        proof.faults.append(Fault(file, "", problem))

    for order in blocks.proofs():
        proof.right += 1
        if blocks.share(order) != 1 or blocks.first_fault(order):
            fault(f"the valid order {' '.join(order)} does not earn full marks")
    lazy = {
        "nothing": [],
        "one line": list(blocks.letters[:1]),
        "the lines as shown": list(blocks.letters),
        "the lines as shown, backwards": list(blocks.letters[::-1]),
    }
    for name, answer in lazy.items():
        if share := blocks.share(answer):
            fault(f"a lazy answer ({name}) earns {share:.0%} of the points")
    right = blocks.one_proof
    for letter, why in blocks.why_not.items():
        for position in range(len(right) + 1):
            answer = [*right[:position], letter, *right[position:]]
            if blocks.share(answer) == 1 or blocks.first_fault(answer) is None:
                fault(f"the distractor {letter} passes")
        proof.wrong += 1
        proof.wrong_caught += 1
        proof.messages[f"distractor {letter}"] = f"line {letter}: {why}"
    for i, j in itertools.combinations(range(len(right)), 2):
        swapped = list(right)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        valid = any(swapped == order for order in blocks.proofs())
        if (blocks.share(swapped) == 1) != valid:
            fault(f"the order {' '.join(swapped)} is marked wrongly")
    return proof
