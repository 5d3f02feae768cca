import type { PermissionTier } from '@gatehouse/contract'
import { visibleText } from './visible-text.ts'

type Hints = { readonly readOnlyHint?: unknown; readonly destructiveHint?: unknown }

/** From what a server says of its own tool. Nothing is decided by it. */
export const suggestedTier = (definition: { readonly [key: string]: unknown }): PermissionTier => {
  const { annotations } = definition
  const hints = (
    typeof annotations === 'object' && annotations !== null ? annotations : {}
  ) as Hints
  return hints.readOnlyHint === true ? 'autonomous' : 'approval_required'
}

/** A layer of policy for the tools of a server, for a person to read, change and set. */
export const suggestRules = (
  server: string,
  tools: readonly {
    readonly capability: string
    readonly tier: PermissionTier
    readonly description: string
  }[],
): string => {
  const rules = tools.map(({ capability, tier, description }) =>
    [
      `  # ${visibleText(description, 100).replace(/\s+/g, ' ')}`,
      `  - match: ${capability}`,
      `    tier: ${tier}`,
    ].join('\n'),
  )
  return [
    `# Suggested for ${server} from what the server says of its own tools, which nobody has checked.`,
    '# Read each rule before you keep it. A tool without a rule asks a person.',
    'version: 1',
    tools.length === 0 ? 'rules: []' : 'rules:',
    ...rules,
    '',
  ].join('\n')
}
