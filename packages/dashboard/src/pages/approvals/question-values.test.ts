import type { QuestionField } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { defaultsOf, valuesOf } from './question-values.ts'

const field = (name: string, type: QuestionField['type'], given?: unknown): QuestionField => ({
  ...{ name, type, title: null, description: null, required: false, secret: false, limits: null },
  ...(given === undefined ? {} : { default: given }),
})

const fields = [
  field('branch', 'text', 'main'),
  field('depth', 'integer'),
  field('ratio', 'number', 0.5),
  field('force', 'boolean', false),
  field('colours', 'choices', ['red']),
]

test('begins with what the server takes by default', () => {
  const typed = defaultsOf(fields)
  expect(typed).toEqual({
    ...{ branch: 'main', depth: '', ratio: '0.5', force: 'false', colours: ['red'] },
  })
  expect(valuesOf(fields, typed)).toEqual({
    ...{ branch: 'main', ratio: 0.5, force: false, colours: ['red'] },
  })
})

test('leaves out what has no answer, and keeps names that objects have themselves', () => {
  const own = field('__proto__', 'text')
  expect(valuesOf([...fields, own], { force: 'true', colours: [] })).toEqual({ force: true })
  const typed = Object.fromEntries([['__proto__', 'kept']])
  expect(Object.entries(valuesOf([own], typed))).toEqual([['__proto__', 'kept']])
})
