"""The reaction model once more: torch's own encoder layer, and `transformers` itself.

Run as a program, `python albert.py FOLDER REACTIONS TARGET`, it is the second: streams, weights and
logits of `AlbertForMaskedLM` go into an .npz file. It imports nothing of this project.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn

TABLE, LAYER = "albert.embeddings.", "albert.encoder.albert_layer_groups.0.albert_layers.0."
THEIRS = re.compile(
    r"(\[[^\]]+]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|\%[0-9]{2}|[0-9])"
)
"""The expression of the model's own tokeniser."""


def ids_of(folder: Path, reaction: str) -> torch.Tensor:
    vocabulary = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    ids = {token: number for number, token in enumerate(vocabulary)}
    tokens = ["[CLS]", *THEIRS.findall(reaction), "[SEP]"]
    return torch.tensor([[ids.get(token, ids["[UNK]"]) for token in tokens]])


def state_of(folder: Path) -> dict[str, torch.Tensor]:
    return torch.load(folder / "pytorch_model.bin", weights_only=True, map_location="cpu")


class TorchModel(nn.Module):
    """Embedding, one `nn.TransformerEncoderLayer` twelve times, and the guessing head."""

    def __init__(self, folder: Path):
        super().__init__()
        self.folder, state = folder, state_of(folder)
        self.tokens = nn.Embedding.from_pretrained(state[f"{TABLE}word_embeddings.weight"])
        self.positions = nn.Embedding.from_pretrained(state[f"{TABLE}position_embeddings.weight"])
        self.segment = state[f"{TABLE}token_type_embeddings.weight"][0]
        self.norm, self.guess_norm = (nn.LayerNorm(128, eps=1e-12) for _ in range(2))
        self.widen, self.narrow = nn.Linear(128, 256), nn.Linear(256, 128)
        self.layer = nn.TransformerEncoderLayer(
            256, 8, 512, 0.0, "gelu", layer_norm_eps=1e-12, batch_first=True
        )
        self.bias = state["predictions.bias"]
        attention = [f"{LAYER}attention.{part}" for part in ("query", "key", "value")]
        self.layer.self_attn.in_proj_weight.data = torch.cat(
            [state[f"{name}.weight"] for name in attention]
        )
        self.layer.self_attn.in_proj_bias.data = torch.cat(
            [state[f"{name}.bias"] for name in attention]
        )
        for module, name in (
            (self.norm, f"{TABLE}LayerNorm"),
            (self.widen, "albert.encoder.embedding_hidden_mapping_in"),
            (self.layer.self_attn.out_proj, f"{LAYER}attention.dense"),
            (self.layer.norm1, f"{LAYER}attention.LayerNorm"),
            (self.layer.linear1, f"{LAYER}ffn"),
            (self.layer.linear2, f"{LAYER}ffn_output"),
            (self.layer.norm2, f"{LAYER}full_layer_layer_norm"),
            (self.narrow, "predictions.dense"),
            (self.guess_norm, "predictions.LayerNorm"),
        ):
            module.weight.data, module.bias.data = state[f"{name}.weight"], state[f"{name}.bias"]

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        table = self.tokens(ids) + self.positions(torch.arange(ids.shape[1])) + self.segment
        return self.widen(self.norm(table))

    def streams(self, X: torch.Tensor, layers: int = 12) -> list[torch.Tensor]:
        streams = [X]
        for _ in range(layers):
            streams.append(self.layer(streams[-1]))
        return streams

    def logits(self, X: torch.Tensor) -> torch.Tensor:
        features = self.guess_norm(nn.functional.gelu(self.narrow(X)))
        return features @ self.tokens.weight.T + self.bias


def _with_transformers(folder: Path, reactions: list[str], target: Path) -> None:
    from transformers import AlbertConfig, AlbertForMaskedLM

    settings = json.loads((folder / "config.json").read_text())
    model = AlbertForMaskedLM(AlbertConfig(**settings, attn_implementation="eager")).eval()
    state = state_of(folder)
    state["predictions.decoder.weight"] = state[f"{TABLE}word_embeddings.weight"]
    state["predictions.decoder.bias"] = state["predictions.bias"]
    missing, _ = model.load_state_dict(state, strict=False)
    assert not missing, missing
    kept = {}
    for number, reaction in enumerate(reactions):
        with torch.no_grad():
            ids = ids_of(folder, reaction)
            out = model(ids, output_hidden_states=True, output_attentions=True)
        kept[f"ids{number}"] = ids[0].numpy()
        kept[f"streams{number}"] = torch.cat(out.hidden_states).numpy()
        kept[f"weights{number}"] = torch.cat(out.attentions).numpy()
        kept[f"logits{number}"] = out.logits[0].numpy()
    np.savez(target, **kept)


if __name__ == "__main__":
    folder, reactions, target = map(Path, sys.argv[1:])
    _with_transformers(folder, json.loads(reactions.read_text()), target)
