import math

from course_lib.checking import fails


@fails("keys_keep_variance_one", "aligned_scores_have_the_predicted_moments")
def rho_and_one_minus_rho(Q, noise, rho):
    """weights rho and 1 - rho: a mixture, not a rotation"""
    return rho * Q + (1 - abs(rho)) * noise


@fails("keys_keep_variance_one", "aligned_scores_have_the_predicted_moments", "the_ends_are_exact")
def noise_added_whole(Q, noise, rho):
    """noise added at full strength"""
    return rho * Q + noise


@fails("aligned_scores_have_the_predicted_moments")
def root_of_rho(Q, noise, rho):
    """roots of rho and 1 - rho: the right variance, another correlation"""
    sign = -1 if rho < 0 else 1
    return sign * math.sqrt(abs(rho)) * Q + math.sqrt(1 - abs(rho)) * noise


@fails("the_ends_are_exact")
def sign_lost(Q, noise, rho):
    """the sign of rho lost"""
    return abs(rho) * Q + math.sqrt(1 - rho**2) * noise


@fails("zero_returns_the_noise")
def one_noise_per_key(Q, noise, rho):
    """one noise number for all entries of a key"""
    return rho * Q + math.sqrt(1 - rho**2) * noise[:, :1]


@fails("keys_keep_variance_one", "aligned_scores_have_the_predicted_moments")
def root_forgotten(Q, noise, rho):
    """1 - rho squared without its root"""
    return rho * Q + (1 - rho**2) * noise
