/* A form for the options of a calibration, made from the server's own definition of them (GET /options, JSON Schema). */
import { choice, element, field } from "/static/dom.js";
import { groupsOption } from "/static/views/groups.js";

const PROMISE = ["alpha", "delta"];
const FIRST = ["method", "guarantee", "score", "members"];
/** Options that name a column of the data. */
const ROLES = ["groups", "clusters", "weights", "order"];

/** Every option that is a number, a word or a yes or no; the usual ones first, all others to be opened. */
export function optionsForm(schema) {
  const fields = {};
  for (const [path, property] of simple(schema, "", schema)) fields[path] = input(path, property);
  const scores = schema.properties.score.anyOf.flatMap((one) => one.oneOf ?? []);
  fields.score = Object.assign(field("Score", element("select", {}), schema.properties.score.description),
    { given: () => null });
  fields.groups = groupsOption(schema.properties.groups);
  const roles = ROLES.filter((path) => fields[path]);
  const columns = element("datalist", { id: "role-columns" });
  for (const path of roles) fields[path].control.setAttribute("list", "role-columns");
  const others = Object.keys(fields).filter((path) => ![...FIRST, ...PROMISE, ...roles, "name"].includes(path));
  return {
    fields,
    /** What belongs to the data. */
    roles: [element("div", { class: "fields" }, roles.map((path) => fields[path])), columns],
    part: [element("div", { class: "fields" }, FIRST.map((path) => fields[path])),
      element("details", {}, element("summary", {}, "More options"),
        element("div", { class: "fields" }, others.map((path) => fields[path])))],
    /** Names of the data's columns, to choose from where an option names one. */
    offerColumns(names) {
      columns.replaceChildren(...names.map((name) => element("option", { value: name })));
    },
    rolesTaken: () => roles.map((path) => fields[path].control.value).filter(Boolean),
    onRoles: (listen) => roles.forEach((path) => fields[path].control.addEventListener("input", listen)),
    setTask(task) {
      const select = fields.score.control;
      const before = select.value;
      const open = [["", "default"], ...scores.filter((one) => one["x-task"] === task)
        .map((one) => [one.title, one.title])];
      select.replaceChildren(...choice(open).children);
      select.value = open.some(([value]) => value === before) ? before : "";
    },
    /** What differs from the defaults, as POST /calibrations takes it. */
    options() {
      const given = {};
      for (const [path, one] of Object.entries(fields)) {
        const value = one.given();
        if (value !== null) place(given, path.split("."), value);
      }
      if (fields.score.control.value) given.score = { kind: fields.score.control.value };
      return given;
    },
    /** The first value that is not what its field takes, said there. */
    wrong() {
      return Object.values(fields).find((one) => {
        const problem = one.control.validationMessage;
        if (problem) one.wrong(problem);
        return Boolean(problem);
      });
    },
  };
}

/** Paths and schemas of the options that fit into one control; sections are looked into. */
function* simple(schema, prefix, root) {
  for (const [name, given] of Object.entries(schema.properties)) {
    const property = ROLES.includes(`${prefix}${name}`) ? oneColumn(given) : given;
    if (property.$ref) yield* simple(root.$defs[property.$ref.split("/").at(-1)], `${prefix}${name}.`, root);
    else if (kind(property)) yield [`${prefix}${name}`, property];
  }
}

/** Of an option that takes a column or a list of them, the one column. */
const oneColumn = (property) => ({ ...property, anyOf: property.anyOf?.filter((one) => one.type !== "array") });

/** The part of a property that says what a value is; null stands for "left open", and a word beside numbers for what
 * requests can say and the form cannot. */
function kind(property) {
  const real = (property.anyOf ?? [property]).filter((one) => one.type !== "null" && one.const === undefined);
  const known = real.length === 1 && (real[0].enum || ["number", "integer", "string", "boolean"].includes(real[0].type));
  return known ? real[0] : null;
}

function input(path, property) {
  const type = kind(property);
  const name = path.replaceAll("_", " ");
  const label = name[0].toUpperCase() + name.slice(1);
  const start = property.default ?? "";
  const made = field(label, control(type, start), property.description);
  made.given = () => {
    if (type.type === "boolean") return made.control.checked === Boolean(start) ? null : made.control.checked;
    const text = made.control.value.trim();
    if (text === "" || text === String(start)) return null;
    return ["number", "integer"].includes(type.type) ? Number(text) : text;
  };
  return made;
}

function control(type, start) {
  if (type.enum) return choice(type.enum.map((one) => [one, one]), start);
  if (type.type === "boolean") return element("input", { type: "checkbox", checked: Boolean(start) });
  if (type.type === "string") return element("input", { value: start });
  return element("input", { type: "number", step: type.type === "integer" ? "1" : "any", value: String(start),
    min: bound(type.minimum, type.exclusiveMinimum), max: bound(type.maximum, type.exclusiveMaximum) });
}

const bound = (including, excluding) => {
  const limit = including ?? excluding;
  return limit === undefined ? null : String(limit);
};

function place(holder, [first, ...rest], value) {
  if (rest.length) place(holder[first] ??= {}, rest, value);
  else holder[first] = value;
}
