import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { catalogText } from '../model-text.ts'

export const modelsCatalog = defineCommand({
  name: 'models catalog',
  summary: 'Show the state of the catalog and the entries it dropped; --refresh fetches it now',
  options: { refresh: { about: 'fetch the catalog now, or fail' } },
  examples: ['gatehouse models catalog', 'gatehouse models catalog --refresh --json'],
  async run({ api }, { refresh }) {
    const catalog = refresh ? await api.refreshCatalog() : (await api.listModels()).catalog
    return { refreshed: refresh, ...catalog }
  },
  text: catalogText,
  exitCode: ({ refreshed, status }) =>
    refreshed && status !== 'current' ? exitCodes.failed : exitCodes.done,
})
