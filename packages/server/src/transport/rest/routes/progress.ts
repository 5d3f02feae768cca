import type { progressRoutes } from '@gatehouse/contract/routes/progress'
import type { Handlers } from '../handler.ts'

export const progressHandlers: Handlers<typeof progressRoutes> = {
  streamProgress: (_op, app) => ({
    kind: 'events',
    source(emit) {
      const heard = [
        app.subscribeInstalls((job) => emit({ name: 'model', key: job.id, data: job })),
        app.subscribeSyncs((sync) => emit({ name: 'service', key: sync.name, data: sync })),
        app.subscribeEngine((state) => emit({ name: 'engine', key: 'engine', data: state })),
      ]
      return {
        [Symbol.dispose]() {
          for (const one of heard) one[Symbol.dispose]()
        },
      }
    },
  }),
}
