/** `filesystem.read` → `filesystem__read`, as MCP clients see it. */
export const toolName = (capability: string): string => capability.replace('.', '__')

/** `filesystem__read` or `filesystem.read` → `filesystem.read`. Both are accepted everywhere. */
export const capabilityName = (name: string): string =>
  name.includes('.') ? name : name.replace('__', '.')
