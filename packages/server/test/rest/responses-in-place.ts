type Responses = Record<string, unknown>
type Shared = {
  paths: Record<string, Record<string, { responses: Responses }>>
  components: { responses?: Responses }
}

/** The document as a reader takes it: each answer that operations share stands at each of them. */
export const responsesInPlace = <D>(document: D): D => {
  const { paths, components } = document as Shared
  for (const methods of Object.values(paths))
    for (const { responses } of Object.values(methods))
      for (const [status, response] of Object.entries(responses)) {
        const name = (response as { $ref?: string }).$ref?.split('/').at(-1)
        if (name !== undefined) responses[status] = structuredClone(components.responses?.[name])
      }
  return document
}
