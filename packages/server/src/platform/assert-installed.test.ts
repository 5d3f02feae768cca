import { expect, test } from 'vitest'
import { assertInstalled } from './assert-installed.ts'

test('finds every library that the service depends on', () => {
  expect(() => assertInstalled()).not.toThrow()
})

test('raises what an import would for one that is not installed', () => {
  expect(() => assertInstalled(['zod', 'gatehouse-is-not-published'])).toThrow(
    expect.objectContaining({ code: 'ERR_MODULE_NOT_FOUND' }),
  )
})
