type Refuse = (detail: string) => never

/** Targets in their order, each under a name of its own, or a refusal that names the place. */
export const namedListOf = <T extends { readonly name: string }>(
  raw: unknown,
  max: number,
  parse: (one: unknown, refuse: Refuse) => T,
  refuse: Refuse,
): readonly T[] => {
  if (!Array.isArray(raw) || raw.length > max)
    return refuse(`must be a list of at most ${max} targets; in a flag or variable as JSON`)
  const list = raw.map((one, i) => parse(one, (detail) => refuse(`at place ${i + 1}: ${detail}`)))
  const names = list.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  return twice === undefined ? list : refuse(`names ${twice} twice`)
}
