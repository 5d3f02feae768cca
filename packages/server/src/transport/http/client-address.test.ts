import { expect, test } from 'vitest'
import { createClientAddress } from './client-address.ts'

test('believes nobody where no proxy is trusted', () => {
  const clientAddress = createClientAddress([])
  expect(clientAddress('127.0.0.1', '203.0.113.9')).toBe('127.0.0.1')
  expect(clientAddress(undefined, '203.0.113.9')).toBeUndefined()
})

test('takes the client from a trusted proxy, and from no other', () => {
  const clientAddress = createClientAddress(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  expect(clientAddress('127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
  expect(clientAddress('::ffff:127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
  expect(clientAddress('10.1.2.3', '2001:db8::7')).toBe('2001:db8::7')
  expect(clientAddress('fd00::1', '203.0.113.9')).toBe('203.0.113.9')
  expect(clientAddress('192.0.2.4', '203.0.113.9')).toBe('192.0.2.4')
  expect(clientAddress('127.0.0.1', undefined)).toBe('127.0.0.1')
})

test('reads back to the first address that is no proxy, and believes nothing before it', () => {
  const clientAddress = createClientAddress(['127.0.0.1', '10.0.0.0/8'])
  expect(clientAddress('127.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2')).toBe('203.0.113.9')
  expect(clientAddress('127.0.0.1', '10.0.0.3, 10.0.0.2')).toBe('10.0.0.3')
  expect(clientAddress('127.0.0.1', '203.0.113.9, nonsense')).toBe('127.0.0.1')
  expect(clientAddress('127.0.0.1', 'unknown, 10.0.0.2')).toBe('10.0.0.2')
  expect(clientAddress('127.0.0.1', '[2001:db8::7]:4711')).toBe('2001:db8::7')
})
