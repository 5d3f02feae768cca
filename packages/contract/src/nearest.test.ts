import { expect, test } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

const known = ['filesystem.read', 'filesystem.write', 'git.commit']

test('names what was probably meant, nearest first', () => {
  expect(nearest('filesystem.raed', known)[0]).toBe('filesystem.read')
  expect(didYouMean('git.comit', known)).toBe(' Did you mean git.commit?')
})

test('says nothing about a name that is like none, and gives up on a very long one', () => {
  expect(didYouMean('email.send', known)).toBe('')
  expect(nearest('x'.repeat(1_000_000), known)).toEqual([])
})

test('takes two letters in the wrong order for one slip, also in a short name', () => {
  expect(nearest('teir', ['tier', 'when', 'match'])).toEqual(['tier'])
  expect(nearest('whne', ['tier', 'when', 'match'])).toEqual(['when'])
  expect(nearest('filesystem.raed', ['filesystem.read', 'filesystem.stat'])[0]).toBe(
    'filesystem.read',
  )
})
