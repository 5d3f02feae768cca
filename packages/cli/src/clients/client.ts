import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Entry, FormatName } from './config-format.ts'

export const scopes = ['user', 'project'] as const
export type Scope = (typeof scopes)[number]

/** Where the files of a person and of a project are. */
export type Place = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform: NodeJS.Platform
  /** Folder of the project. */
  readonly folder: string
}

/** Words that start the bridge: a program by its absolute path, and its arguments. */
export type Start = { readonly command: string; readonly args: readonly string[] }

/** A program whose MCP servers are configured in a file. */
export type ClientSpec = {
  readonly id: string
  readonly title: string
  /** Format that the client itself reads; anything else is malformed. */
  readonly format: FormatName
  /** Member of the file that holds the servers, each under its name. */
  readonly key: string
  /** Member of the file of the person that holds such lists of single folders, under their paths. */
  readonly folders?: string
  readonly files: {
    readonly user: (place: Place) => string
    readonly project?: (place: Place) => string
  }
  readonly entry: (start: Start) => Entry
  /** Placeholders of the environment that it fills in, in the texts of a server: nothing, `${NAME}`, or `$NAME` as well. */
  readonly placeholders: 'none' | 'braces' | 'dollars'
  /** Steps that are left for it to take effect. */
  readonly afterwards: string
}

export const homeOf = ({ env }: Place): string => env.HOME ?? env.USERPROFILE ?? homedir()

/** Folder of the settings of desktop programs. */
const appData = (place: Place): string => {
  const { env, platform } = place
  if (platform === 'darwin') return join(homeOf(place), 'Library', 'Application Support')
  if (platform === 'win32') return env.APPDATA ?? join(homeOf(place), 'AppData', 'Roaming')
  return env.XDG_CONFIG_HOME || join(homeOf(place), '.config')
}

const zedFolder = (place: Place): string => {
  if (place.platform === 'win32') return join(appData(place), 'Zed')
  return join(place.env.XDG_CONFIG_HOME || join(homeOf(place), '.config'), 'zed')
}

const plain = ({ command, args }: Start): Entry => ({ command, args })
const typed = (start: Start): Entry => ({ type: 'stdio', ...plain(start) })

export const clients: readonly ClientSpec[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    format: 'json',
    key: 'mcpServers',
    folders: 'projects',
    files: {
      user: (place) => join(place.env.CLAUDE_CONFIG_DIR || homeOf(place), '.claude.json'),
      project: ({ folder }) => join(folder, '.mcp.json'),
    },
    entry: typed,
    placeholders: 'braces',
    afterwards: 'Start a new session of Claude Code; /mcp shows the server.',
  },
  {
    id: 'claude-desktop',
    title: 'Claude Desktop',
    format: 'json',
    key: 'mcpServers',
    files: { user: (place) => join(appData(place), 'Claude', 'claude_desktop_config.json') },
    entry: plain,
    placeholders: 'none',
    afterwards: 'Quit Claude Desktop and start it again.',
  },
  {
    id: 'cursor',
    title: 'Cursor',
    format: 'jsonc',
    key: 'mcpServers',
    files: {
      user: (place) => join(homeOf(place), '.cursor', 'mcp.json'),
      project: ({ folder }) => join(folder, '.cursor', 'mcp.json'),
    },
    entry: typed,
    placeholders: 'braces',
    afterwards: 'Restart Cursor, and see in its settings that the server is switched on.',
  },
  {
    id: 'vscode',
    title: 'VS Code',
    format: 'jsonc',
    key: 'servers',
    files: {
      user: (place) => join(appData(place), 'Code', 'User', 'mcp.json'),
      project: ({ folder }) => join(folder, '.vscode', 'mcp.json'),
    },
    entry: typed,
    placeholders: 'braces',
    afterwards:
      'In VS Code run "MCP: List Servers" and start the server; VS Code asks whether you trust it.',
  },
  {
    id: 'codex',
    title: 'Codex',
    format: 'toml',
    key: 'mcp_servers',
    files: {
      user: (place) => join(place.env.CODEX_HOME || join(homeOf(place), '.codex'), 'config.toml'),
      project: ({ folder }) => join(folder, '.codex', 'config.toml'),
    },
    entry: plain,
    placeholders: 'none',
    afterwards:
      'Start a new session of Codex. It reads the file of a project only where the project is trusted.',
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    format: 'json with comments',
    key: 'mcpServers',
    files: {
      user: (place) => join(place.env.GEMINI_CLI_HOME || homeOf(place), '.gemini', 'settings.json'),
      project: ({ folder }) => join(folder, '.gemini', 'settings.json'),
    },
    entry: plain,
    placeholders: 'dollars',
    afterwards: 'Start Gemini CLI again; /mcp shows the server.',
  },
  {
    id: 'copilot',
    title: 'Copilot CLI',
    format: 'json',
    key: 'mcpServers',
    files: {
      user: (place) =>
        join(place.env.COPILOT_HOME || join(homeOf(place), '.copilot'), 'mcp-config.json'),
      project: ({ folder }) => join(folder, '.github', 'mcp.json'),
    },
    entry: (start) => ({ ...typed(start), tools: ['*'] }),
    placeholders: 'braces',
    afterwards: 'Start Copilot CLI again; /mcp show lists the server.',
  },
  {
    id: 'zed',
    title: 'Zed',
    format: 'jsonc',
    key: 'context_servers',
    files: {
      user: (place) => join(zedFolder(place), 'settings.json'),
      project: ({ folder }) => join(folder, '.zed', 'settings.json'),
    },
    // Older versions ask for `source`, newer ones for `args`, and none minds the other.
    entry: (start) => ({ source: 'custom', ...plain(start), env: {} }),
    placeholders: 'none',
    afterwards: 'Zed takes it over at once; the settings of the agent panel show the server.',
  },
  {
    id: 'windsurf',
    title: 'Windsurf',
    format: 'jsonc',
    key: 'mcpServers',
    files: { user: (place) => join(homeOf(place), '.codeium', 'windsurf', 'mcp_config.json') },
    entry: plain,
    placeholders: 'braces',
    afterwards: 'Refresh the list of MCP servers in Windsurf, or restart it.',
  },
]

/** Name of our entry among the servers of a client. */
export const entryName = 'gatehouse'
