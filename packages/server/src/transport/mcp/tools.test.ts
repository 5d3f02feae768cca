import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonOfResult, type ToolResult } from './tools.ts'

const long = fc.string({ unit: 'binary', minLength: 200, maxLength: 400 })
const result = fc
  .record({
    text: long,
    data: fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })),
    name: fc.option(fc.constantFrom('content', 'a"b', 'constructor')),
    note: fc.boolean(),
  })
  .map(({ text, data, name, note }): ToolResult => {
    const content = [{ type: 'text' as const, text }]
    if (note) content.push({ type: 'text', text: 'a note' })
    if (data === null) return { content }
    if (name !== null) data[name] = text
    return { content, structuredContent: data }
  })

test('a result is the JSON it always was, with members in any order', () => {
  const property = fc.property(result, (given) => {
    expect(JSON.parse(jsonOfResult(given))).toEqual(JSON.parse(JSON.stringify(given)))
  })
  fc.assert(property, { numRuns: 500, seed: 1 })
})

test('a text that is all there is stands in both places', () => {
  const text = `"${'x\n'.repeat(200)}`
  const given: ToolResult = {
    content: [{ type: 'text', text }],
    structuredContent: { content: text },
  }
  expect(jsonOfResult(given)).toBe(JSON.stringify(given))
})
