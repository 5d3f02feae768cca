import { code, generatedNote, table } from './markdown.mjs'

const fieldRow = ({ name, type, required, default: value, description = '' }) => [
  code(name),
  type,
  required ? 'yes' : value === undefined ? 'no' : `no, ${code(JSON.stringify(value))}`,
  description,
]

const fields = (title, entries) =>
  entries.length === 0
    ? ''
    : `\n\n${title}\n\n${table(['Name', 'Type', 'Required', 'Meaning'], entries.map(fieldRow))}`

const section = (capability) => {
  const { description, tier, notify, effect, timeout_seconds } = capability
  const known = [
    `version ${capability.version}`,
    `shipped tier ${code(tier)}${notify ? ', operators are told' : ''}`,
    effect === 'none' ? 'no effect' : `effect ${code(effect)}`,
    `ends after ${timeout_seconds} s`,
    ...(capability.critical ? ['critical: an approval must carry the digest'] : []),
  ]
  const effects = description.side_effects.map(
    ({ what, reversible }) => `- leaves ${what}; ${reversible ? 'can' : 'cannot'} be undone`,
  )
  const patterns = description.common_patterns.map(
    (pattern) => `- ${pattern.title}: ${code(JSON.stringify(pattern.arguments))}`,
  )
  const errors = description.errors.map(({ type }) => `[${type}](errors.md#${type.toLowerCase()})`)
  return [
    `### ${capability.name}\n\n${capability.purpose} ${capability.when_to_use}\n\n${known.join('; ')}.`,
    fields('Arguments:', description.inputs).trim(),
    fields('Answer:', description.outputs).trim(),
    effects.join('\n'),
    patterns.length > 0 ? `Examples:\n\n${patterns.join('\n')}` : '',
    `Errors: ${errors.join(', ')}.`,
  ]
    .filter(Boolean)
    .join('\n\n')
}

export const capabilities = {
  file: 'docs/reference/capabilities.md',
  async render() {
    const { standardCapabilities } = await import(
      '../../packages/server/dist/capabilities/standard.js'
    )
    const list = [...standardCapabilities].toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    const groups = [...new Set(list.map(({ group }) => group))].map((group) => {
      const sections = list.filter((capability) => capability.group === group).map(section)
      return `## ${group}\n\n${sections.join('\n\n')}`
    })
    return `${generatedNote('packages/server/src/capabilities')}
# Capabilities

What agents can ask for. Over MCP the dot becomes two underscores: \`filesystem.read\` is the tool
\`filesystem__read\`. The tier is what ships; the policy of an installation decides.

${groups.join('\n\n')}
`
  },
}
