import { expect, test } from 'vitest'
import { changedFields, overlap } from './changed-fields.ts'

const began = { purpose: 'Sorts the post', tools: ['email.*'], mounts: [{ path: '/a' }] }

test('a form sends the fields that its person changed and no other', () => {
  expect(changedFields(began, { ...began, purpose: 'Sorts mail' })).toEqual({
    purpose: 'Sorts mail',
  })
  expect(changedFields(began, { ...began, tools: [], mounts: [{ path: '/b' }] })).toEqual({
    tools: [],
    mounts: [{ path: '/b' }],
  })
})

test('a form that was opened and left as it was sends nothing', () => {
  expect(changedFields(began, structuredClone(began))).toEqual({})
})

test('two changes collide in a field that both have', () => {
  const mine = changedFields(began, { ...began, purpose: 'Sorts mail' })
  expect(overlap(mine, changedFields(began, { ...began, tools: [] }))).toBe(false)
  expect(overlap(mine, changedFields(began, { ...began, purpose: 'Reads mail' }))).toBe(true)
  expect(overlap({}, began)).toBe(false)
})
