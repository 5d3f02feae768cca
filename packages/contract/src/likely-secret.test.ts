import { expect, test } from 'vitest'
import { hasSecret, isLikelySecret, secretArguments } from './likely-secret.ts'

test.each([
  ['GITHUB_PERSONAL_ACCESS_TOKEN', 'x1'],
  ['BRAVE_API_KEY', 'abc'],
  ['PGPASSWORD', 'hunter'],
  ['SENTRY_DSN', 'https://a@sentry.example/1'],
  ['KEY', 'abc'],
  ['GH', 'ghp_abcdef'],
  ['URL', 'postgres://ana:pw@db.example/app'],
  ['PEM', '-----BEGIN PRIVATE KEY-----'],
  ['ID', 'q8Zr2kLm0PxW7vTb5NcD'],
])('takes %s for a secret', (name, value) => expect(isLikelySecret(name, value)).toBe(true))

test.each([
  ['LOG_LEVEL', 'debug'],
  ['MEMORY_FILE_PATH', '/home/ana/notes/graph-0123456789.json'],
  ['API_URL', 'https://api.example.org/v1'],
  ['KEYBOARD', 'dvorak'],
  ['AUTH_ENABLED', 'true'],
  ['TOKEN', ''],
  ['PATTERN', 'aaaaaaaaaaaaaaaaaaaaaaaa1'],
  ['MONKEY', 'yes'],
])('takes %s=%s for none', (name, value) => expect(isLikelySecret(name, value)).toBe(false))

test('finds secrets among arguments by their flag or their form, and no names of packages', () => {
  expect(
    secretArguments(['--api-key', 'abc', '--token=abc', 'sk-abc', '-H', 'Authorization: Bearer x']),
  ).toEqual([1, 2, 3, 5])
  expect(
    secretArguments(['-y', '@modelcontextprotocol/server-filesystem@2025.8.21', '/srv/docs']),
  ).toEqual([])
  expect(
    secretArguments(['--token-file', '/run/token', '--auth', 'true', '--key=./key.pem']),
  ).toEqual([])
  expect(secretArguments(['mcp-remote', '3b1f6c1e-6f0e-4c59-9d39-0c3f3e5a7b11'])).toEqual([])
})

test('finds secrets in addresses', () => {
  expect(hasSecret('https://mcp.example.org/mcp?region=eu')).toBe(false)
  for (const address of [
    'https://ana:pw@mcp.example.org/mcp',
    'https://mcp.example.org/mcp?api_key=abc',
    'https://mcp.example.org/s/q8Zr2kLm0PxW7vTb5NcDq8Zr2kLm0PxW/mcp',
  ])
    expect(hasSecret(address)).toBe(true)
})
