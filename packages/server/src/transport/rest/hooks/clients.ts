import type { HookClient } from '@gatehouse/contract/routes/hooks'
import {
  BadUse,
  edit,
  fetch,
  type Mapping,
  ofServer,
  other,
  patch,
  plan,
  read,
  searchContents,
  searchNames,
  shell,
  textIn,
  type Use,
  write,
} from './native-call.ts'

type Given = Readonly<Record<string, unknown>>
type Output = Readonly<Record<string, unknown>>

/** Verdict of the gate: nothing against it, a person said yes, or no. */
export type Verdict =
  | { readonly kind: 'no_objection' }
  | { readonly kind: 'approved' }
  | { readonly kind: 'denied'; readonly reason: string }

/** How one client asks its hook and what it listens to. */
export type ClientForm = {
  readonly use: (given: Given) => Use
  readonly tools: Readonly<Record<string, Mapping>>
  readonly output: (verdict: Verdict, given: Given) => Output
}

const objectIn = (given: Given, name: string): Given => {
  const value = given[name]
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Given
  throw new BadUse(`${name}: expected an object`)
}

const folderIn = (given: Given, name = 'cwd'): string => {
  const folder = textIn(given, name)
  if (folder.startsWith('/')) return folder
  throw new BadUse(`${name}: expected an absolute path`)
}

const idIn = (given: Given, ...names: readonly string[]): string | null => {
  for (const name of names) if (typeof given[name] === 'string') return given[name].slice(0, 200)
  return null
}

/** `mcp__server__tool`, as the models see it. */
const ofMcp = /^mcp__(.+?)__(.+)$/

const standardUse = (given: Given): Use => {
  const tool = textIn(given, 'tool_name')
  const use = {
    tool,
    tool_use_id: idIn(given, 'tool_use_id', 'turn_id'),
    folder: folderIn(given),
    given: objectIn(given, 'tool_input'),
  }
  const [, server, name] = ofMcp.exec(tool) ?? []
  return server && name ? { ...use, server, tool: name } : use
}

/** Words of a refusal that Claude Code, Codex and Gemini CLI all obey, whichever of them each one reads. */
const blocked = (reason: string, hookEventName: string): Output => ({
  decision: 'block',
  reason,
  hookSpecificOutput: {
    hookEventName,
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  },
})

const planning = (...names: readonly string[]): Readonly<Record<string, Mapping>> =>
  Object.fromEntries(names.map((name) => [name, plan]))

const claudeCode: ClientForm = {
  use: standardUse,
  tools: {
    Bash: shell(),
    Read: read,
    Write: write,
    Edit: edit,
    MultiEdit: edit,
    NotebookRead: read,
    NotebookEdit: edit,
    Glob: searchNames('path'),
    LS: searchNames('path'),
    Grep: searchContents('path'),
    WebFetch: fetch,
    ...planning(
      ...['Agent', 'AskUserQuestion', 'BashOutput', 'EnterPlanMode', 'ExitPlanMode', 'KillBash'],
      ...[
        'KillShell',
        'Skill',
        'SlashCommand',
        'StructuredOutput',
        'Task',
        'TaskCreate',
        'TaskGet',
      ],
      ...['TaskList', 'TaskOutput', 'TaskStop', 'TaskUpdate', 'TodoWrite', 'ToolSearch'],
    ),
  },
  output: (verdict) => {
    if (verdict.kind === 'denied') return blocked(verdict.reason, 'PreToolUse')
    if (verdict.kind === 'no_objection') return {}
    return {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'allow',
        permissionDecisionReason: 'a person approved it in Gatehouse',
      },
    }
  },
}

const codex: ClientForm = {
  use: standardUse,
  tools: {
    Bash: shell('workdir'),
    shell: shell('workdir'),
    local_shell: shell('workdir'),
    exec_command: shell('workdir'),
    apply_patch: patch,
    view_image: read,
    ...planning('update_plan', 'request_user_input'),
  },
  // A bare `allow` is an error for Codex, and no answer is none.
  output: (verdict) => (verdict.kind === 'denied' ? blocked(verdict.reason, 'PreToolUse') : {}),
}

const gemini: ClientForm = {
  use: (given) => {
    const { mcp_context } = given
    const use = standardUse(given)
    if (typeof mcp_context !== 'object' || mcp_context === null) return use
    const context = mcp_context as Given
    return { ...use, server: textIn(context, 'server_name'), tool: textIn(context, 'tool_name') }
  },
  tools: {
    run_shell_command: shell('dir_path'),
    read_file: read,
    write_file: write,
    replace: edit,
    glob: searchNames('dir_path'),
    list_directory: searchNames('dir_path'),
    search_file_content: searchContents('dir_path'),
    grep_search: searchContents('dir_path'),
    ...planning(
      ...['activate_skill', 'ask_user', 'complete_task', 'enter_plan_mode', 'exit_plan_mode'],
      ...[
        'tracker_add_dependency',
        'tracker_create_task',
        'tracker_get_task',
        'tracker_list_tasks',
      ],
      ...['tracker_update_task', 'tracker_visualize', 'update_topic', 'write_todos'],
    ),
  },
  output: (verdict) => {
    if (verdict.kind === 'denied') return blocked(verdict.reason, 'BeforeTool')
    return verdict.kind === 'approved' ? { decision: 'allow' } : {}
  },
}

const cursorUse = (given: Given): Use => {
  const roots = given['workspace_roots']
  const [root] = Array.isArray(roots) ? (roots as unknown[]) : []
  const folder =
    typeof given['cwd'] === 'string' && given['cwd'] !== ''
      ? folderIn(given)
      : typeof root === 'string' && root.startsWith('/')
        ? root
        : '/'
  const tool_use_id = idIn(given, 'tool_use_id', 'generation_id')
  const use = (tool: string, input: Given, server?: string): Use => ({
    ...{ tool, tool_use_id, folder, given: input },
    ...(server === undefined ? {} : { server }),
  })
  switch (given['hook_event_name']) {
    case 'beforeShellExecution':
      return use('Shell', { command: textIn(given, 'command') })
    case 'beforeReadFile':
      return use('Read', { file_path: textIn(given, 'file_path') })
    case 'beforeMCPExecution':
      return use(textIn(given, 'tool_name'), inputIn(given, 'tool_input'), cursorServer(given))
    default:
      return use(textIn(given, 'tool_name'), inputIn(given, 'tool_input'))
  }
}

/** An object, or the text of one. */
const inputIn = (given: Given, name: string): Given => {
  const value = given[name]
  if (typeof value !== 'string') return objectIn(given, name)
  try {
    return objectIn({ [name]: JSON.parse(value) as unknown }, name)
  } catch {
    throw new BadUse(`${name}: expected the JSON of an object`)
  }
}

/** Cursor names the command or the address of a server, not the server. */
const cursorServer = (given: Given): string => {
  const place = idIn(given, 'command', 'url') ?? 'unknown'
  return /\bgatehouse(\.js)?["']? mcp\b/.test(place) ? 'gatehouse' : place
}

const cursor: ClientForm = {
  use: cursorUse,
  tools: {
    Shell: shell('working_directory', 'cwd'),
    Read: read,
    Write: write,
    Edit: edit,
    StrReplace: edit,
    Glob: searchNames('target_directory', 'path'),
    LS: searchNames('target_directory', 'path'),
    Grep: searchContents('path', 'target_directory'),
    WebFetch: fetch,
    ...planning('Task', 'TodoWrite'),
  },
  output: (verdict) =>
    verdict.kind === 'denied'
      ? { permission: 'deny', user_message: verdict.reason, agent_message: verdict.reason }
      : { permission: 'allow' },
}

const copilot: ClientForm = {
  use: (given) => ({
    tool: textIn(given, 'toolName'),
    tool_use_id: idIn(given, 'toolCallId', 'tool_use_id'),
    folder: folderIn(given),
    given: inputIn(given, 'toolArgs'),
  }),
  tools: {
    bash: shell('cwd', 'working_directory'),
    view: read,
    create: write,
    edit,
    str_replace: edit,
    glob: searchNames('path'),
    grep: searchContents('path'),
    rg: searchContents('path'),
    web_fetch: fetch,
    ...planning('report_intent', 'task', 'update_todo', 'ask_user'),
  },
  output: (verdict) => {
    if (verdict.kind === 'no_objection') return {}
    return verdict.kind === 'approved'
      ? { permissionDecision: 'allow' }
      : { permissionDecision: 'deny', permissionDecisionReason: verdict.reason }
  },
}

export const clientForms: Readonly<Record<HookClient, ClientForm>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  cursor,
  copilot,
}

/** The call that a use of a tool comes to; a tool that nobody here knows is one of its own kind. */
export const mappingOf = ({ tools }: ClientForm, use: Use): Mapping => {
  if (use.server !== undefined) return ofServer
  return Object.hasOwn(tools, use.tool) ? (tools[use.tool] ?? other) : other
}
