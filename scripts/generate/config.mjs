import { code, generatedNote, table } from './markdown.mjs'

/** @param {any} field each kind has the members that it needs */
const form = ({ type, choices, min, max }) => {
  if (choices) return choices.map(code).join(', ')
  // Durations are compared in milliseconds, which says little on a page.
  const bounded = type === 'integer' && (min !== undefined || max !== undefined)
  return bounded ? `${type}, ${min ?? '…'} to ${max ?? '…'}` : type
}

const shown = (value) => {
  if (value === null) return '–'
  if (Array.isArray(value)) return value.length > 0 ? value.join(', ') : 'empty'
  if (typeof value === 'object')
    return Object.keys(value).length > 0 ? code(JSON.stringify(value)) : 'empty'
  return code(value)
}

export const config = {
  file: 'docs/reference/config.md',
  async render() {
    const { fields } = await import('../../packages/server/dist/config/fields.js')
    const { flagOf, variableOf } = await import('../../packages/server/dist/config/field.js')
    const rows = fields.map((field) => [
      code(field.key),
      code(flagOf(field)),
      code(variableOf(field)),
      form(field),
      shown(field.default),
      field.description,
    ])
    return `${generatedNote('packages/server/src/config/fields.ts')}
# Settings

Each setting is a flag of \`gatehouse serve\`, an environment variable and a key of \`gatehouse.yaml\`; a dot
in a key is one level in the file. Flags win over variables, variables over the file, the file over the
default. A duration is a number with \`s\`, \`m\`, \`h\` or \`d\`.

${table(['Key', 'Flag', 'Variable', 'Form', 'Default', 'What it does'], rows)}
`
  },
}
