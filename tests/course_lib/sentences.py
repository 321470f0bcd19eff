"""Two hundred sentences of many kinds, for two tokenisers and two engines to agree on."""

import random

ENGLISH = """\
How old are you?
What is your age?
I would like a cup of tea, please.
Could you bring me some tea?
The train to the north leaves at nine.
When does the northern train depart?
The cat sat on the mat.
The animal didn't cross the street because it was too tired.
My sister is a doctor and she works at the hospital.
The dog bites the man.
The man bites the dog.
It is what it is, isn't it?
"Never," she said - and left.
I PAID $1,234.56 FOR IT!!!
e.g. the U.S.A., i.e. a country
Supercalifragilisticexpialidocious antidisestablishmentarianism
well-known, so-called, co-operative
We'll've been there'd you'ren't
call me at +44 20 7946 0958 or a.b@example.org
https://example.org/a/b?c=d&e=%20f#g
def softmax(x): return np.exp(x) / np.exp(x).sum()
<s> </s> extra_token_id_1
""".splitlines()

SCRIPTS = """\
Wie alt bist du? Größe, Straße, Übermut
¿Cuántos años tienes, señor?
L'été, j'ai vu un cœur naïf à Noël.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Zażółć gęślą jaźń
Πόσο χρονών είσαι;
Сколько тебе лет?
כמה אתה בן?
كم عمرك؟
आपकी उम्र क्या है?
คุณอายุเท่าไหร่
你多大了？
お元気ですか。カタカナも
몇 살이에요?
ქართული ენა
አማርኛ
∀x ∈ ℝ: ∫ e⁻ˣ dx ≤ 1 ≠ ½
ﬁne ﬂuﬀ ＦＵＬＬ　ＷＩＤＴＨ ① ² ™ …
e\u0301 and é, n\u0303 and ñ
𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒶𝓃𝒹 𝟙𝟚𝟛
""".splitlines()

SIGNS = [
    *"aZ0.,▁�☃€\u00a0\u200b\u00ad\u0301",
    "😀",
    "👩\u200d👩\u200d👧\u200d👦 family",
    "🇬🇧🇫🇷 flags",
    "I ❤\ufe0f NY 👍🏽",
    "☃☃ ☃ a☃b",
    "😀" * 200,
    " ",
    "   ",
    " leading",
    "trailing ",
    "two  spaces",
    "a\tb\nc\r\nd",
    "\x00\x01",
    "▁▁ ▁a",
]

LONG = ["word " * 300, "To be, or not to be, that is the question: " * 30, "a" * 400, "x" * 129]


def sentences() -> list[str]:
    """Those above, and random ones: of English words, of halves of words, of any characters."""
    chosen = ["", *ENGLISH, *SCRIPTS, *SIGNS, *LONG]
    rng, words = random.Random(14), " ".join(ENGLISH).split()
    while len(chosen) < 200:
        count = rng.randint(1, 30)
        match len(chosen) % 3:
            case 0:
                some = rng.choices(words, k=count)
            case 1:
                some = [word[: rng.randint(1, 4)] for word in rng.choices(words, k=count)]
            case _:
                alphabet = "etaoin,shrdlu" * 3 + "".join(
                    chr(rng.randint(160, 0x2FFF)) for _ in "ab"
                )
                some = ["".join(rng.choices(alphabet, k=rng.randint(1, 6))) for _ in range(count)]
        chosen.append(" ".join(some))
    return chosen
