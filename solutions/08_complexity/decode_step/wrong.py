from array_api_compat import array_namespace

from course_lib.checking import fails, only


def _append(cache, k, v):
    xp = array_namespace(k)
    if cache is None:
        return k[None, :], v[None, :]
    return xp.concat([cache[0], k[None, :]]), xp.concat([cache[1], v[None, :]])


def _attend(q, K, V, scale):
    xp = array_namespace(q)
    scores = K @ q / scale
    weights = xp.exp(scores - xp.max(scores))
    return weights @ V / xp.sum(weights)


@fails(
    "the_first_sees_itself",
    "steps_equal_the_whole",
    "loud_words_stay_finite",
    "a_cache_can_be_branched",
)
def looks_before_appending(q, k, v, cache):
    """looks before it appends: the word does not see itself"""
    seen = (0 * k[None, :], 0 * v[None, :]) if cache is None else cache
    return _attend(q, *seen, q.shape[0] ** 0.5), _append(cache, k, v)


@fails("a_cache_can_be_branched")
@only("numpy")
def cache_changed_in_place(q, k, v, cache):
    """appends to the very arrays that it was given"""
    if cache is None:
        return v, (k[None, :].copy(), v[None, :].copy())
    for kept, new in zip(cache, (k, v), strict=True):
        kept.resize((len(kept) + 1, kept.shape[1]), refcheck=False)
        kept[-1] = new
    return _attend(q, *cache, q.shape[0] ** 0.5), cache


REMEMBERED = []


@fails("a_cache_can_be_branched")
def remembers_by_itself(q, k, v, cache):
    """remembers the words by itself and never looks at the cache"""
    if cache is None:
        REMEMBERED.clear()
    REMEMBERED.append((k, v))
    xp = array_namespace(q)
    K, V = (xp.stack(rows) for rows in zip(*REMEMBERED, strict=True))
    return _attend(q, K, V, q.shape[0] ** 0.5), (K, V)


@fails("steps_equal_the_whole")
def root_of_t(q, k, v, cache):
    """divides by the root of the number of words"""
    K, V = _append(cache, k, v)
    return _attend(q, K, V, K.shape[0] ** 0.5), (K, V)


@fails("the_cache_grows_by_one", "steps_equal_the_whole", "a_cache_can_be_branched")
def outputs_cached(q, k, v, cache):
    """stores outputs in the place of values"""
    K, V = _append(cache, k, v)
    output = _attend(q, K, V, q.shape[0] ** 0.5)
    return output, (K, _append(cache, k, output)[1])


@fails("steps_equal_the_whole", "loud_words_stay_finite", "a_cache_can_be_branched")
def newest_only(q, k, v, cache):
    """looks at the newest word only"""
    return v, _append(cache, k, v)


@fails("steps_equal_the_whole", "loud_words_stay_finite", "a_cache_can_be_branched")
def equal_shares(q, k, v, cache):
    """a running mean in the place of the weighted sum"""
    K, V = _append(cache, k, v)
    return array_namespace(q).mean(V, axis=0), (K, V)


@fails("the_cache_grows_by_one")
def newest_first(q, k, v, cache):
    """keeps the newest word first"""
    K, V = _append(cache, k, v)
    xp = array_namespace(q)
    if cache is not None:
        K, V = xp.concat([k[None, :], cache[0]]), xp.concat([v[None, :], cache[1]])
    return _attend(q, K, V, q.shape[0] ** 0.5), (K, V)


@fails("loud_words_stay_finite")
def no_shift(q, k, v, cache):
    """exponentials of the scores as they are"""
    K, V = _append(cache, k, v)
    weights = array_namespace(q).exp(K @ q / q.shape[0] ** 0.5)
    return weights @ V / array_namespace(q).sum(weights), (K, V)
