import type { Method } from './method.ts'
import type { Field, Fields } from './params.ts'

/** Every method takes it, in place of the header Gatehouse-Session. */
export const sessionField = {
  type: 'string',
  maxLength: 64,
  description: 'The session this belongs to; the header Gatehouse-Session does the same',
} as const satisfies Field

const schemaOf = (field: Field): Record<string, unknown> => {
  if (field.type !== 'object') return { ...field }
  const { fields, ...rest } = field
  if (!fields) return rest
  return { ...rest, properties: propertiesOf(fields), additionalProperties: false }
}

const propertiesOf = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)]))

const describeMethod = (method: Method): Record<string, unknown> => ({
  name: method.name,
  summary: method.summary,
  paramStructure: 'by-name',
  params: Object.entries({ ...method.fields, session_id: sessionField }).map(([name, field]) => ({
    name,
    required: method.required.includes(name),
    schema: schemaOf(field),
  })),
  result: { name: method.result.name, schema: { description: method.result.description } },
})

/** `rpc.discover`: an OpenRPC document of the methods, itself included. */
export const discoverMethod = (others: readonly Method[]): Method => {
  const discover: Method = {
    name: 'rpc.discover',
    summary: 'This document.',
    fields: {},
    required: [],
    result: { name: 'openrpc', description: 'An OpenRPC 1.3 document' },
    inSession: false,
    answer: (app) =>
      Promise.resolve({
        result: {
          openrpc: '1.3.2',
          info: { title: 'Gatehouse gateway', version: app.version },
          methods: [...others, discover].map(describeMethod),
        },
      }),
  }
  return discover
}
