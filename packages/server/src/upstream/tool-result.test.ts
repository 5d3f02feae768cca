import { expect, test } from 'vitest'
import { answerIn, readToolResult } from './tool-result.ts'

const text = { content: [{ type: 'text', text: 'done' }] }

test('reads an answer as it came, in either era', () => {
  const answer = { ...text, isError: false, structuredContent: [1], _meta: { kept: true } }
  expect(readToolResult(answer, false)).toBe(answer)
  expect(readToolResult({ ...answer, resultType: 'complete' }, true)).toEqual(answer)
  expect(readToolResult({ structuredContent: 1 }, false)).toMatchObject({ content: [] })
})

test('before 2026-07-28 no result is of a kind', () => {
  expect(readToolResult({ ...text, resultType: 'input_required' }, false)).toEqual(text)
})

test('knows a task of either era', () => {
  const task = { taskId: 'a', status: 'working' }
  expect(readToolResult({ task }, false)).toMatchObject({ task })
  expect(readToolResult({ ...task, resultType: 'task' }, true)).toEqual({ task })
})

test.each([
  [{ content: 'done' }],
  [{ content: [{ text: 'done' }] }],
  [{ content: [null] }],
  [{ ...text, isError: 'no' }],
])('what a tool can not answer fails: %j', (result) => {
  expect(answerIn(result)).toBe(null)
  expect(() => readToolResult(result, false)).toThrow(
    expect.objectContaining({ code: 'INVALID_RESULT' }),
  )
})

test.each([
  [{ ...text }, 'INVALID_RESULT'],
  [{ ...text, resultType: 1 }, 'INVALID_RESULT'],
  [{ ...text, resultType: 'dream' }, 'UNSUPPORTED_RESULT_TYPE'],
])('a kind that 2026-07-28 does not have fails: %j', (result, code) => {
  expect(() => readToolResult(result, true)).toThrow(expect.objectContaining({ code }))
})
