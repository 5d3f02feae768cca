export const catalog = {
  file: 'catalog/models.schema.json',
  async render() {
    const { catalogJsonSchema } = await import(
      '../../packages/server/dist/domain/models/catalog-json-schema.js'
    )
    return `${JSON.stringify(catalogJsonSchema(), null, 2)}\n`
  },
}
