import type { hookRoutes } from '@gatehouse/contract/routes/hooks'
import { HookClient } from '@gatehouse/contract/routes/hooks'
import type { Handlers } from '../handler.ts'
import { askHook } from '../hooks/ask-hook.ts'

export const hookHandlers: Handlers<typeof hookRoutes> = {
  askHook: (op, app, { hook_client, ...given }) =>
    askHook(op, app, HookClient.parse(hook_client), given),
}
