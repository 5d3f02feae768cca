type Parts = Record<string, unknown>
type Shared = {
  paths: Record<string, Record<string, { responses: Parts; parameters?: unknown[] }>>
  components: { responses?: Parts; parameters?: Parts }
}

const inPlace = (part: unknown, shared: Parts = {}): unknown => {
  const name = (part as { $ref?: string }).$ref?.split('/').at(-1)
  return name === undefined ? part : structuredClone(shared[name])
}

/** The document as a reader takes it: each answer and parameter that operations share stands at each of them. */
export const partsInPlace = <D>(document: D): D => {
  const { paths, components } = document as Shared
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    for (const [status, response] of Object.entries(operation.responses))
      operation.responses[status] = inPlace(response, components.responses)
    if (operation.parameters)
      operation.parameters = operation.parameters.map((one) => inPlace(one, components.parameters))
  }
  return document
}
