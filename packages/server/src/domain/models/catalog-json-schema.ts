import { entryKeys, forbiddenKeys, idLengthMax, reservedPrefixes } from './entry-rules.ts'

/** Keys as an editor may check them; no schema can say that two entries differ in their ids. */
const properties = {
  id: {
    minLength: 1,
    maxLength: idLengthMax,
    pattern: `^(?!${reservedPrefixes.join('|')})(?![.-])(?!.*\\.\\.)[A-Za-z0-9._-]+$`,
    description: 'Unique, and not that of a built-in model.',
  },
  url: {
    pattern: '^https://[^\\s\\\\@]+$',
    description: 'Direct download address of a GGUF file.',
  },
  sha256: { pattern: '^[0-9a-f]{64}$', description: 'Of the whole file.' },
  size_bytes: {
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Exact size of the file; no more than this is ever fetched.',
  },
  label: { description: 'The name that people see.' },
  params: { description: 'How many parameters, as text: 0.5B.' },
  license_tag: { description: 'Short SPDX-style tag: Apache-2.0.' },
  description: { description: 'One or two sentences.' },
} as const

/** The form of a published catalog, drawn from the rules that load it. */
export function catalogJsonSchema(): object {
  const forbidden = { not: { anyOf: forbiddenKeys.map((key) => ({ required: [key] })) } }
  const keys = Object.entries(entryKeys)
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Catalog of local models',
    type: 'object',
    required: ['schema_version', 'models'],
    ...forbidden,
    properties: {
      $schema: { type: 'string' },
      schema_version: { const: 1 },
      models: {
        type: 'array',
        items: {
          type: 'object',
          required: keys.filter(([, { required }]) => required).map(([key]) => key),
          additionalProperties: false,
          ...forbidden,
          properties: Object.fromEntries(
            keys.map(([key, { type }]) => [
              key,
              { type, ...properties[key as keyof typeof properties] },
            ]),
          ),
        },
      },
    },
    additionalProperties: false,
  }
}
