/** Files by which a coding agent, its hooks or its servers are configured, as the end of a path. */
const files: readonly RegExp[] = [
  // Claude Code and Claude Desktop
  /\.mcp\.json/,
  /\.claude\.json/,
  /\.claude\/(settings(\.local)?\.json|hooks\/.*)/,
  /claude_desktop_config\.json/,
  // Codex
  /\.codex\/.*/,
  // Gemini CLI
  /\.gemini\/settings\.json/,
  // Cursor
  /\.cursor\/(mcp|hooks)\.json/,
  // VS Code
  /\.vscode\/(mcp|settings)\.json/,
  /code[^/]*\/user\/(profiles\/[^/]+\/)?(mcp|settings)\.json/,
  // Copilot CLI, which also takes the files of Claude Code
  /\.copilot\/.*/,
  /\.github\/(mcp\.json|hooks\/.*|copilot\/settings(\.local)?\.json)/,
  // Zed and Windsurf
  /\.?zed\/settings\.json/,
  /windsurf\/mcp_config\.json/,
]

const ending = new RegExp(`(^|/)(${files.map(({ source }) => source).join('|')})$`, 'i')

/** @SECURITY A writer of these files may take the hook away that asks; client-files.test.ts. */
export const configuresClient = (path: string): boolean => ending.test(path.normalize('NFKC'))
