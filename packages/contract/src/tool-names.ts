/** `filesystem.read` → `filesystem__read`, as MCP clients see it. */
export const toolName = (capability: string): string => capability.replace('.', '__')

/** `filesystem__read` or `filesystem.read` → `filesystem.read`. Both are accepted everywhere. */
export const capabilityName = (name: string): string =>
  name.includes('.') ? name : name.replace('__', '.')

/** The capability that stands for any other: a call of it is the call that its arguments name. */
export const anyCapability = 'tools.call'

/** A longer name is none of a capability. */
export const nameCharsMax = 256
