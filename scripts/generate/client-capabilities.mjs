// Arguments and results of all capabilities, for agents in TypeScript.
import { schemaType } from './schema-type.mjs'

const member = ({
  name,
  purpose,
  when_to_use,
  input_schema,
  output_schema,
}) => `  /** ${purpose} ${when_to_use} */
  '${name}': {
    arguments: ${schemaType(input_schema, 'input', '    ')}
    result: ${schemaType(output_schema, 'output', '    ')}
  }
`

export const clientCapabilities = {
  file: 'packages/client/src/capabilities.ts',
  async render() {
    const { standardCapabilities } = await import(
      '../../packages/server/dist/capabilities/standard.js'
    )
    const list = standardCapabilities
      .filter(({ performer }) => performer === 'service')
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    return `// Made by \`npm run generate\` from packages/server/src/capabilities.

/** What each capability of Gatehouse takes and answers, those apart that only a hook may ask for. */
export type Capabilities = {
${list.map(member).join('')}}
`
  },
}
