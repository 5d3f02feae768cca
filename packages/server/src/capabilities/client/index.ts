import { edit, patch, read, search, write } from './files.ts'
import { fetch, mcpTool, plan, tool } from './others.ts'
import { shell } from './shell.ts'

export const clientCapabilities = [
  edit,
  fetch,
  mcpTool,
  patch,
  plan,
  read,
  search,
  shell,
  tool,
  write,
]
