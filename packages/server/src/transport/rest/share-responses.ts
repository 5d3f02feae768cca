type Response = Readonly<Record<string, unknown>>
type Operation = { readonly responses?: Readonly<Record<string, Response>> }
export type Document = {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components?: Readonly<Record<string, unknown>>
}

const isFailure = (status: string): boolean => Number(status) >= 400

/** The document with each failure that several operations have in common once, in `components.responses`. */
export function shareResponses({ paths = {}, components, ...rest }: Document): Document {
  const uses = new Map<string, number>()
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  for (const { responses = {} } of operations)
    for (const [status, response] of Object.entries(responses)) {
      const text = `${status} ${JSON.stringify(response)}`
      uses.set(text, (uses.get(text) ?? 0) + 1)
    }
  const names = new Map<string, string>()
  const shared: Record<string, Response> = {}
  const share = (status: string, response: Response): Response => {
    const text = `${status} ${JSON.stringify(response)}`
    if (!isFailure(status) || (uses.get(text) ?? 0) < 2) return response
    const taken = [...names.values()].filter((name) => name.startsWith(`Failure${status}`)).length
    const name = names.get(text) ?? `Failure${status}${taken === 0 ? '' : `_${taken + 1}`}`
    names.set(text, name)
    shared[name] = response
    return { $ref: `#/components/responses/${name}` }
  }
  const shareAll = (operation: Operation): Operation => ({
    ...operation,
    responses: Object.fromEntries(
      Object.entries(operation.responses ?? {}).map(([status, one]) => [
        status,
        share(status, one),
      ]),
    ),
  })
  const withShared = Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [method, shareAll(operation)]),
      ),
    ]),
  )
  return { ...rest, paths: withShared, components: { ...components, responses: shared } }
}
