import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

type Property = { readonly description?: unknown; readonly default?: unknown }
type Schema = {
  readonly properties?: Readonly<Record<string, Property>>
  readonly required?: readonly string[]
}

export const proxyKinds = defineCommand({
  name: 'proxy kinds',
  summary: 'List the kinds of services, with the settings and credentials of each',
  examples: ['gatehouse proxy kinds', 'gatehouse proxy kinds --json'],
  withoutData: 'temporary',
  run: ({ api }) => api.listServiceKinds(),
  text: ({ kinds }) =>
    kinds
      .map(({ kind, title, settings, secrets, operations }) => {
        const { properties = {}, required = [] } = settings as Schema
        const lines = Object.entries(properties).map(
          ([name, { description = '', default: given }]) =>
            `  --set ${name}=…  ${required.includes(name) && given === undefined ? '(required) ' : ''}${escapeText(String(description))}`,
        )
        const asked = secrets.map(
          ({ name, description, required: needed }) =>
            `  ${needed ? 'credential' : 'optional credential'} ${name}: ${escapeText(description)}`,
        )
        const undo = operations.map(
          ({ name, delay_seconds, undo_note }) =>
            `  ${name}: held ${delay_seconds} s. ${escapeText(undo_note)}`,
        )
        return [`${kind}: ${escapeText(title)}`, ...lines, ...asked, ...undo].join('\n')
      })
      .join('\n\n'),
})
