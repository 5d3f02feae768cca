/** A port with some of its methods replaced; the others work as before. */
export const replacing = <T extends object>(port: T, methods: Partial<T>): T =>
  new Proxy(port, {
    get(target, name) {
      if (Object.hasOwn(methods, name)) return Reflect.get(methods, name) as unknown
      const part: unknown = Reflect.get(target, name, target)
      return typeof part === 'function' ? (part.bind(target) as unknown) : part
    },
  })
