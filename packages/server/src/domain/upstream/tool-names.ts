/** The longest name of a tool that every client takes, less what clients put before it. */
const actionMax = 64

/** The part of a capability's name that stands for a tool; null where nothing of its name can. */
export const fittedAction = (tool: string): string | null => {
  const fitted = tool
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^[_-]+/, '')
    .slice(0, actionMax)
  return fitted === '' ? null : fitted
}

export type FittedName =
  | { readonly kind: 'fits'; readonly capability: string }
  | { readonly kind: 'problem'; readonly problem: string }

/**
 * Names under which agents call the tools of a server, in the order given. Of tools that fall together none is
 * offered, since a person could not tell which one it is.
 */
export const fitToolNames = (group: string, tools: readonly string[]): readonly FittedName[] => {
  const byAction = new Map<string, string[]>()
  for (const tool of tools) {
    const action = fittedAction(tool)
    if (action !== null) byAction.set(action, [...(byAction.get(action) ?? []), tool])
  }
  return tools.map((tool) => {
    const action = fittedAction(tool)
    if (action === null)
      return { kind: 'problem', problem: 'its name holds no letter or digit that a name may have' }
    const same = byAction.get(action) ?? []
    const capability = `${group}.${action}`
    return same.length === 1
      ? { kind: 'fits', capability }
      : {
          kind: 'problem',
          problem: `${same.map((name) => JSON.stringify(name)).join(' and ')} would both be ${capability}`,
        }
  })
}
