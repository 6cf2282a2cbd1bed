/* What to do about each caveat, by its code: the message says what was found, this says what comes next. The braces hold
   JSON, from which the report on paper takes the same words. */

export const ADVICE = {
  "accuracy_near_chance": "Compare the order of the labels with the model's outputs, and calibrate again.",
  "attempts": "Take the certificate of a fit that was planned, or collect fresh rows.",
  "class_never_first": "Compare the order of the labels with the model's outputs; a rare class may be no mistake.",
  "coarse_arithmetic": "Calibrate with dtype float64, or rescale the inputs or weights.",
  "empty_sets": "Choose a smaller alpha or the option non_empty, or look for a better model.",
  "equal_rows": "Remove copies, or calibrate with clusters: equal_rows.",
  "estimated_weights": "Rely on it no more than on the estimate, and look at the monitor regularly.",
  "groups_too_small": "Collect the rows that are lacking, or merge such groups before calibrating.",
  "mean_size_not_certified": "Use the size that few sets exceed, or certify the mean on fresh inputs without truths.",
  "near_equal_rows": "If several rows come from one source, name the column that says which: option clusters.",
  "not_compared": "Compare the inputs with those rows yourself, and leave out what is among them.",
  "order": "Shuffle only if the order means nothing. If it is time, calibrate with order, and recalibrate regularly.",
  "order_of_time": "Recalibrate as new rows come in: the promise is for inputs like the latest rows.",
  "used_before": "Leave these inputs out, and state the sizes again."
};
