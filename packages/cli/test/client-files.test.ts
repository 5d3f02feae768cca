import { expect, test } from 'vitest'
import { configuresClient } from '../../server/src/domain/client-tools/client-files.ts'
import { clients, type Place, scopes } from '../src/clients/client.ts'
import { hookSpecs } from '../src/clients/client-hooks.ts'

const platforms = ['linux', 'darwin', 'win32'] as const

/** Every file that connect writes, wherever a client keeps it. */
const written = [...clients, ...Object.values(hookSpecs)].flatMap(({ files }) =>
  platforms.flatMap((platform) => {
    const place: Place = { env: { HOME: '/home/ana' }, platform, folder: '/srv/shop' }
    return scopes.flatMap((scope) => files[scope]?.(place) ?? [])
  }),
)

test.each([...new Set(written)])('an agent may not write %s unasked', (file) => {
  expect(configuresClient(file)).toBe(true)
})

test.each([
  '/srv/shop/.github/copilot/settings.json',
  '/srv/shop/.github/hooks/any.json',
  '/srv/shop/.claude/settings.json',
  '/srv/shop/.claude/hooks/check.sh',
  '/srv/shop/.vscode/settings.json',
  '/home/ana/.config/Code - Insiders/User/profiles/1f/mcp.json',
  '/home/ana/.codex/config.toml',
  '/home/ana/.Codex/Hooks.json',
  '/home/ana/.copilot/config.json',
  '.mcp.json',
])('nor %s', (file) => {
  expect(configuresClient(file)).toBe(true)
})

test.each([
  '/srv/shop/.github/workflows/test.yml',
  '/srv/shop/.github/copilot-instructions.md',
  '/srv/shop/.claude/commands/release.md',
  '/srv/shop/src/settings.json',
  '/srv/shop/src/mcp.json',
  '/srv/shop/a.mcp.json',
  '/srv/shop/user/settings.json',
])('and does not configure a client by %s', (file) => {
  expect(configuresClient(file)).toBe(false)
})
