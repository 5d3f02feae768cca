import { join } from 'node:path'
import { shellWord } from '@gatehouse/contract/shell-word'
import { homeOf, type Place } from './client.ts'
import { isMembers, type Members } from './config-format.ts'

/** One hook for each event that comes before a tool, in the list of that event. */
export type HookItems = Readonly<Record<string, Members>>

/** The hooks of a client: it asks them before it uses a tool of its own. */
export type HookSpec = {
  readonly files: {
    readonly user: (place: Place) => string
    readonly project: (place: Place) => string
  }
  readonly format: 'json' | 'json with comments' | 'jsonc'
  /** Whether the file says which version of its form it has. */
  readonly isVersioned: boolean
  readonly items: (line: string, platform: NodeJS.Platform) => HookItems
  /** Steps that are left for them to take effect. */
  readonly afterwards: string | null
}

/** How long a client waits for a hook, and so for a person. The hook itself gives up five seconds before. */
const waitSeconds = 600

const command = (line: string) => ({ type: 'command', command: line })

const ofCursor = (line: string) => ({ command: line, timeout: waitSeconds, failClosed: true })

/** @SECURITY Only beside the hooks of the two others; hooks.test.ts fails without them. */
const withOthers = (line: string): string =>
  line.replace(/gatehouse(\.js)?['"]? hook cursor(?= )/, '$& --others')

/** By the id of the client; a client that is not here has no hooks. */
export const hookSpecs: Readonly<Record<string, HookSpec>> = {
  'claude-code': {
    files: {
      user: (place) =>
        join(place.env.CLAUDE_CONFIG_DIR || join(homeOf(place), '.claude'), 'settings.json'),
      // Not the file beside it that others of the project get: the token is of one person.
      project: ({ folder }) => join(folder, '.claude', 'settings.local.json'),
    },
    format: 'json',
    isVersioned: false,
    items: (line) => ({
      PreToolUse: {
        matcher: '*',
        hooks: [{ ...command(line), timeout: waitSeconds, onFailure: 'block' }],
      },
    }),
    afterwards: null,
  },
  codex: {
    files: {
      user: (place) => join(place.env.CODEX_HOME || join(homeOf(place), '.codex'), 'hooks.json'),
      project: ({ folder }) => join(folder, '.codex', 'hooks.json'),
    },
    format: 'json',
    isVersioned: false,
    items: (line) => ({ PreToolUse: { hooks: [{ ...command(line), timeout: waitSeconds }] } }),
    afterwards: 'Codex leaves the hook out until you trust it: run /hooks in Codex.',
  },
  gemini: {
    files: {
      user: (place) => join(place.env.GEMINI_CLI_HOME || homeOf(place), '.gemini', 'settings.json'),
      project: ({ folder }) => join(folder, '.gemini', 'settings.json'),
    },
    format: 'json with comments',
    isVersioned: false,
    items: (line) => ({
      BeforeTool: {
        matcher: '*',
        hooks: [{ ...command(line), name: 'gatehouse', timeout: waitSeconds * 1000 }],
      },
    }),
    afterwards: null,
  },
  cursor: {
    files: {
      user: (place) => join(homeOf(place), '.cursor', 'hooks.json'),
      project: ({ folder }) => join(folder, '.cursor', 'hooks.json'),
    },
    format: 'jsonc',
    isVersioned: true,
    items: (line) => ({
      preToolUse: ofCursor(withOthers(line)),
      beforeShellExecution: ofCursor(line),
      beforeMCPExecution: ofCursor(line),
    }),
    afterwards: null,
  },
  copilot: {
    files: {
      user: (place) =>
        join(place.env.COPILOT_HOME || join(homeOf(place), '.copilot'), 'hooks', 'gatehouse.json'),
      project: ({ folder }) => join(folder, '.github', 'copilot', 'settings.local.json'),
    },
    format: 'json',
    isVersioned: true,
    items: (line, platform) => ({
      preToolUse: {
        type: 'command',
        [platform === 'win32' ? 'powershell' : 'bash']: line,
        timeoutSec: waitSeconds,
      },
    }),
    afterwards: null,
  },
}

/** The line of a hook for the shell of the client. */
export function hookLine(words: readonly string[], platform: NodeJS.Platform): string {
  if (platform === 'win32') return words.map((word) => `"${word}"`).join(' ')
  // @SECURITY A hook that could not start or was killed ends with another code, and the call would go on;
  // hook-failures.test.ts fails without it.
  return `${words.map(shellWord).join(' ')} || exit 2`
}

const handlersOf = (item: unknown): readonly unknown[] => {
  if (!isMembers(item)) return []
  return Array.isArray(item['hooks']) ? (item['hooks'] as unknown[]) : [item]
}

const lineOf = (handler: unknown): string | null => {
  if (!isMembers(handler)) return null
  const { command: line, bash, powershell } = handler
  return [line, bash, powershell].find((text) => typeof text === 'string') ?? null
}

/** The line of a hook that asks the gate; null for a hook of somebody else. */
export function gateLine(item: unknown, id: string): string | null {
  const ours = new RegExp(`(^|[\\s'"/\\\\])gatehouse(\\.js)?['"]? hook ${id}(?![\\w-])`)
  const lines = handlersOf(item).map(lineOf)
  const [line] = lines
  return line && lines.every((one) => one !== null && ours.test(one)) ? line : null
}
