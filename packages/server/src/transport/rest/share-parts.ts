type Part = Readonly<Record<string, unknown>>
type Operation = {
  readonly parameters?: readonly Part[]
  readonly responses?: Readonly<Record<string, Part>>
}
export type Document = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: Readonly<Record<string, unknown>>
}

const isFailure = (status: string): boolean => Number(status) >= 400

/** Parts of one kind: each that is used twice or more stands once, and elsewhere a reference to it. */
class SharedParts {
  readonly parts: Record<string, Part> = {}
  readonly #kind: string
  readonly #uses = new Map<string, number>()
  readonly #names = new Map<string, string>()

  constructor(kind: string) {
    this.#kind = kind
  }

  note(label: string, part: Part): void {
    const text = `${label} ${JSON.stringify(part)}`
    this.#uses.set(text, (this.#uses.get(text) ?? 0) + 1)
  }

  share(label: string, part: Part): Part {
    const text = `${label} ${JSON.stringify(part)}`
    if ((this.#uses.get(text) ?? 0) < 2) return part
    const taken = [...this.#names.values()].filter((name) => name.split('_')[0] === label).length
    const name = this.#names.get(text) ?? `${label}${taken === 0 ? '' : `_${taken + 1}`}`
    this.#names.set(text, name)
    this.parts[name] = part
    return { $ref: `#/components/${this.#kind}/${name}` }
  }
}

/** `PathName`, `HeaderIfMatch`: names of parts are letters and digits. */
const labelOf = (parameter: Part): string =>
  [parameter['in'], ...String(parameter['name']).split(/[^A-Za-z0-9]+/)]
    .map((word) => String(word).replace(/^./, (first) => first.toUpperCase()))
    .join('')

/** The document with the failures and parameters that several operations have in common once, in `components`. */
export function shareParts({ paths = {}, components, ...rest }: Document): Document {
  const failures = new SharedParts('responses')
  const parameters = new SharedParts('parameters')
  const mapped = (
    responses: Operation['responses'],
    to: (label: string, part: Part) => Part,
  ): Readonly<Record<string, Part>> =>
    Object.fromEntries(
      Object.entries(responses ?? {}).map(([status, one]) => [
        status,
        isFailure(status) ? to(`Failure${status}`, one) : one,
      ]),
    )
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    mapped(operation.responses, (label, part) => {
      failures.note(label, part)
      return part
    })
    for (const one of operation.parameters ?? []) parameters.note(labelOf(one), one)
  }
  const shareAll = (operation: Operation): Operation => ({
    ...operation,
    ...(operation.parameters && {
      parameters: operation.parameters.map((one) => parameters.share(labelOf(one), one)),
    }),
    responses: mapped(operation.responses, (label, part) => failures.share(label, part)),
  })
  const withShared = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, shareAll(operation)]),
      ),
    ]),
  )
  const shared = { responses: failures.parts, parameters: parameters.parts }
  return { ...rest, paths: withShared, components: { ...components, ...shared } }
}
