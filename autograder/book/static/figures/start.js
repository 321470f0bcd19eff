// Loaded by the pages that have a moving figure: each comes to life shortly before it is seen.

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      Promise.all([import("./base.js"), import(`./${target.dataset.figure}.js`)]).then(
        ([{ start }, figure]) => start(target, figure),
      );
    }
  },
  { rootMargin: "100% 0px" },
);
document.querySelectorAll(".moving-figure[data-figure]").forEach((figure) => near.observe(figure));
