from array_api_compat import array_namespace

from course_lib.checking import fails


def _exact(page, root=True):
    xp = array_namespace(page["X"])
    Q, K, V = (page["X"] @ page[W] for W in ("W_Q", "W_K", "W_V"))
    return {"Q": Q, "K": K, "V": V} | _from_scores(xp, Q, Q @ K.T, V, root)


def _from_scores(xp, Q, scores, V, root=True):
    scaled = scores / Q.shape[-1] ** 0.5 if root else scores
    weights = _softmax(xp, scaled)
    return {"scores": scores, "scaled": scaled, "weights": weights, "output": weights @ V}


def _softmax(xp, x):
    loudness = xp.exp(x)
    return loudness / xp.sum(loudness, axis=-1, keepdims=True)


def _first(page, exact, wrong):
    xp = array_namespace(page["X"])
    for name, table in exact.items():
        if wrong(page[name] - table, xp):
            return name
    return None


def _half_a_unit(decimals):
    return lambda error, xp: bool(xp.max(xp.abs(error)) > 0.5 * 10.0**-decimals + 1e-9)


@fails("a_rounded_page_is_right", "each_table_is_checked", "row_sums_prove_nothing")
def from_the_printed_table_before(page, decimals):
    """each table recomputed from the printed one before it, so that rounding errors pile up"""
    xp = array_namespace(page["X"])
    exact = {name: page["X"] @ page[f"W_{name}"] for name in "QKV"}
    scores = page["Q"] @ page["K"].T
    exact |= {
        "scores": scores,
        "scaled": page["scores"] / page["Q"].shape[-1] ** 0.5,
        "weights": _softmax(xp, page["scaled"]),
        "output": page["weights"] @ page["V"],
    }
    return _first(page, exact, _half_a_unit(decimals))


@fails("a_rounded_page_is_right", "each_table_is_checked", "row_sums_prove_nothing")
def scale_forgotten(page, decimals):
    """the scaled table expected to equal the scores"""
    return _first(page, _exact(page, root=False), _half_a_unit(decimals))


@fails(
    "a_rounded_page_is_right",
    "each_table_is_checked",
    "row_sums_prove_nothing",
    "one_unit_counts",
    "the_first_is_named",
)
def exact_comparison(page, decimals):
    """compared with ==, as if nothing had been rounded"""
    return _first(page, _exact(page), lambda error, xp: bool(xp.any(error != 0)))


@fails("one_unit_counts")
def a_whole_unit_allowed(page, decimals):
    """a whole unit allowed where rounding can do half a unit"""
    return _first(
        page, _exact(page), lambda error, xp: bool(xp.max(xp.abs(error)) > 1.51 * 10.0**-decimals)
    )


@fails("each_table_is_checked", "one_unit_counts")
def sign_of_the_error_forgotten(page, decimals):
    """the signed difference, so that errors downwards go unseen"""
    return _first(
        page, _exact(page), lambda error, xp: bool(xp.max(error) > 0.5 * 10.0**-decimals + 1e-9)
    )


@fails("one_unit_counts")
def fixed_tolerance(page, decimals):
    """a fixed tolerance, whatever the number of decimals"""
    return _first(page, _exact(page), lambda error, xp: bool(xp.max(xp.abs(error)) > 0.005001))


@fails("row_sums_prove_nothing")
def row_sums_only(page, decimals):
    """the weights judged by their row sums"""
    xp = array_namespace(page["X"])
    exact = _exact(page)
    for name, table in exact.items():
        error = page[name] - table
        if name == "weights":
            error = xp.sum(page[name], axis=-1) - 1
            if bool(xp.max(xp.abs(error)) > 1.6 * 10.0**-decimals):
                return name
        elif _half_a_unit(decimals)(error, xp):
            return name
    return None


@fails("the_first_is_named")
def the_last_is_named(page, decimals):
    """the last wrong table in place of the first"""
    return _first(page, dict(reversed(_exact(page).items())), _half_a_unit(decimals))


@fails(
    "a_rounded_page_is_right",
    "each_table_is_checked",
    "row_sums_prove_nothing",
    "one_unit_counts",
    "the_first_is_named",
)
def only_the_result(page, decimals):
    """the output compared and nothing before it"""
    return _first(page, {"output": _exact(page)["output"]}, _half_a_unit(decimals))
