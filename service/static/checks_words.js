/* The checks of a certificate in words: what each group of them recomputes. */

/** title, what it means, and which checks belong to it, by their names. */
export const CHECK_GROUPS = [
  ["The signature",
    "Whoever holds the issuer's key has signed exactly these numbers; a single changed digit breaks it.",
    /^(signature|key id|id|id asked for|format)$/],
  ["The sentence", "The words follow from the numbers: nobody has written a stronger sentence over them.",
    /(statement|assumptions|^account$|worth stating|caveat about)/],
  ["The coverage", "The thresholds' ranks, recomputed from the number of rows, give the promised miscoverage.",
    /(miscoverage|rank|bound$|member bounds|tail|pool|divergence|budget|log-ratio|draws|risks?$|share of delta|guarantee|group)/],
  ["The choices", "Everything that was open was fixed beforehand and has its share of delta.",
    /(union|choice|weights|options|family|attempt|risk of all|ties|served alone)/],
  ["The sizes", "The certified size follows from the sizes counted on the calibration rows.",
    /(size|cap$|gamma|measure|efficienc|steps)/],
  ["Data and members", "Rows, members, hashes and the model's treatment of rows are stated and fit together.", /.*/],
];

/** Each check under the first title that knows it. */
export function groupedChecks(checks) {
  const groups = CHECK_GROUPS.map(([title, meaning]) => ({ title, meaning, checks: [] }));
  for (const check of checks) {
    groups[CHECK_GROUPS.findIndex(([, , pattern]) => pattern.test(check.name))].checks.push(check);
  }
  return groups.filter((group) => group.checks.length);
}
