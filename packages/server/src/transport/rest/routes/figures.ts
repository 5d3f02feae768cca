import type { figureRoutes } from '@gatehouse/contract/routes/figures'
import type { Handlers } from '../handler.ts'
import { InvalidRequest } from '../invalid-request.ts'

export const figureHandlers: Handlers<typeof figureRoutes> = {
  async getFigures(op, app, input) {
    const outcome = await app.getFigures(op, input)
    if (outcome.kind === 'figures') return outcome.figures
    throw new InvalidRequest([{ pointer: `?${outcome.field}`, detail: outcome.detail }])
  },
}
