import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { catalogText } from '../model-text.ts'

export const modelsCatalog = defineCommand({
  name: 'models catalog',
  summary: 'Show how the catalog is and which entries it lost; with --refresh, fetch it now',
  options: { refresh: { about: 'fetch it now; fails where that does not work' } },
  examples: ['gatehouse models catalog', 'gatehouse models catalog --refresh --json'],
  async run({ api }, { refresh }) {
    const catalog = refresh ? await api.refreshCatalog() : (await api.listModels()).catalog
    return { refreshed: refresh, ...catalog }
  },
  text: catalogText,
  exitCode: ({ refreshed, status }) =>
    refreshed && status !== 'current' ? exitCodes.failed : exitCodes.done,
})
