import type { ModelStore } from '../../ports/models.ts'
import { type Access, compareText } from './state.ts'

const keyOf = (node: string, id: string): string => `${node}\n${id}`

export const memoryModels = ({ state, write }: Access): ModelStore => ({
  list: async (node) =>
    [...state().models.values()]
      .filter((model) => model.node === node)
      .toSorted((a, b) => compareText(a.id, b.id)),

  find: async (node, id) => state().models.get(keyOf(node, id)) ?? null,

  put: (model) =>
    write(({ models }) => {
      models.set(keyOf(model.node, model.id), { ...model })
    }),

  remove: (node, id) => write(({ models }) => models.delete(keyOf(node, id))),
})
