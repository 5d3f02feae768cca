import { expect, test } from 'vitest'
import { draftAfterSave } from './draft-after-save.ts'

const draft = { file: 'organisation.yaml', agent: null, text: 'version: 1\n', version: '"4"' }

test('a draft that was saved goes', () => {
  expect(draftAfterSave(draft, draft, '"5"')).toBeNull()
  expect(draftAfterSave(undefined, draft, '"5"')).toBeNull()
})

test('what was typed while a draft was saved stays, and goes on from what was saved', () => {
  const typed = { ...draft, text: 'version: 1\nrules: []\n' }
  expect(draftAfterSave(typed, draft, '"5"')).toEqual({ ...typed, version: '"5"' })
})
