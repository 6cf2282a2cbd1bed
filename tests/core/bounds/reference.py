"""A second, slow implementation of every number: 50 digits, series and searches, nothing shared with the bounds."""

from collections.abc import Callable

from mpmath import mp, mpf

mp.dps = 50
_NEGLIGIBLE = mpf(10) ** -40


def binary_kl(p: float, q: float) -> mpf:
    p_, q_ = mpf(p), mpf(q)
    if (q_ == 0 and p_ > 0) or (q_ == 1 and p_ < 1):
        return mp.inf
    first = p_ * mp.log(p_ / q_) if p_ > 0 else mpf(0)
    second = (1 - p_) * mp.log((1 - p_) / (1 - q_)) if p_ < 1 else mpf(0)
    return first + second


def kl_inverse(p: float, c: float) -> mpf:
    return _bisect(lambda q: binary_kl(mpf(p), q) <= mpf(c), mpf(p), mpf(1))


def kl_inverse_of_mean(q: float, c: float) -> mpf:
    return _bisect(lambda p: binary_kl(p, mpf(q)) <= mpf(c), mpf(q), mpf(1))


def log_binomial(n: int, k: int, p: mpf) -> mpf:
    """The log-probability of k successes in n trials."""
    choose = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    return choose + k * mp.log(p) + (n - k) * mp.log(1 - p)


def log_tail(n: int, k: int, alpha: float) -> mpf:
    """log P(Binomial(n, alpha) <= k - 1), summed from the largest term outwards."""
    a = mpf(alpha)
    top = min(k - 1, int(n * a))
    ratio = a / (1 - a)
    total = term = mpf(1)
    for i in range(top, 0, -1):
        term *= i / (ratio * (n - i + 1))
        total += term
        if term < _NEGLIGIBLE * total:
            break
    term = mpf(1)
    for i in range(top, k - 1):
        term *= ratio * (n - i) / (i + 1)
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return log_binomial(n, top, a) + mp.log(total)


def log_density(n: int, k: int, x: mpf) -> mpf:
    return mp.log(n) + log_binomial(n - 1, k - 1, mpf(x))


def seeger_budget(n: int, k: int, alpha: float, delta: float) -> mpf:
    """By the theorem's own formula: (n-1) kl₊(a‖alpha) - log(B / delta)."""
    a = mpf(k - 1) / (n - 1)
    distance = binary_kl(a, mpf(alpha)) if a < mpf(alpha) else mpf(0)
    return (n - 1) * distance - _log_peak(n, k) + mp.log(delta)


def seeger_bound(n: int, k: int, delta: float, kl: float) -> mpf:
    a = mpf(k - 1) / (n - 1)
    return kl_inverse(a, (mpf(kl) + _log_peak(n, k) - mp.log(delta)) / (n - 1))


def log_moments(n: int, k: int, tilt: mpf) -> tuple[mpf, mpf, mpf]:
    """log 1F1(k; n+1; tilt) and its first two derivatives, from the power series around its largest term."""
    t = mpf(tilt)
    # term_{i+1} / term_i = (k+i) t / ((n+1+i) (i+1)) is 1 at the positive root of i^2 + (n+2-t) i + (n+1-k t) = 0.
    b, c = n + 2 - t, n + 1 - k * t
    peak = max(0, int((-b + mp.sqrt(b * b - 4 * c)) / 2)) if b * b > 4 * c else 0
    log_peak = (
        mp.loggamma(k + peak)
        - mp.loggamma(k)
        - mp.loggamma(n + 1 + peak)
        + mp.loggamma(n + 1)
        + peak * mp.log(t)
        - mp.loggamma(peak + 1)
    )
    total, first, second = mpf(1), mpf(0), mpf(0)  # moments of i - peak
    term, i = mpf(1), peak
    while term > _NEGLIGIBLE * total:
        term *= (k + i) * t / ((n + 1 + i) * (i + 1))
        i += 1
        total, first, second = total + term, first + (i - peak) * term, second + (i - peak) ** 2 * term
    term, i = mpf(1), peak
    while i > 0 and term > _NEGLIGIBLE * total:
        term *= (n + i) * mpf(i) / ((k + i - 1) * t)
        i -= 1
        total, first, second = total + term, first + (i - peak) * term, second + (i - peak) ** 2 * term
    mean = first / total
    variance = second / total - mean * mean
    mean += peak
    # E[i] = t f' and Var[i] = t f' + t^2 f'' for f = log 1F1
    return log_peak + mp.log(total), mean / t, (variance - mean) / t**2


def chernoff_rate(n: int, k: int, alpha: float) -> tuple[mpf, mpf]:
    """sup over lambda > 0 of lambda alpha - log M(lambda), and the lambda that attains it, by Newton's method."""
    a = mpf(alpha)
    if (n + 1) * a <= k:
        return mpf(0), mpf(0)
    tilt = ((n + 1) * a - k) / (a * (1 - a))
    for _ in range(30):
        log_m, slope, curvature = log_moments(n, k, tilt)
        step = (a - slope) / curvature
        if abs(step) ** 2 * curvature < mpf(10) ** -14 * (tilt * a - log_m):
            # At most half of step^2 curvature below the supremum: add it, and what is left is of third order.
            return tilt * a - log_m + step**2 * curvature / 2, tilt + step
        tilt = tilt + step if tilt + step > 0 else tilt / 2
    raise AssertionError(f"the reference did not converge at n={n}, k={k}, alpha={alpha}")


def _log_peak(n: int, k: int) -> mpf:
    if k in (1, n):
        return mp.log(n)
    return log_density(n, k, mpf(k - 1) / (n - 1))


def _bisect(holds: Callable[[mpf], bool], low: mpf, high: mpf) -> mpf:
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
