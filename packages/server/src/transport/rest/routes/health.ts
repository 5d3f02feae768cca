import type { healthRoutes } from '@gatehouse/contract/routes/health'
import { type Handlers, Reply } from '../handler.ts'

export const healthHandlers: Handlers<typeof healthRoutes> = {
  getHealth: (op, app) => app.health(op),

  isAlive: () => ({ status: 'healthy' }),

  async isReady(op, app) {
    // Only the one word: why it is not well is for those who log in.
    const { status } = await app.health(op)
    return new Reply({ status }, status === 'unhealthy' ? { status: 503 } : {})
  },

  getMetrics: async (op, app) => ({
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: await app.renderMetrics(op),
  }),
}
