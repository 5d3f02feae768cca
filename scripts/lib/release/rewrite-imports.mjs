import path from 'node:path'

const internal = /((?:\bfrom|\bimport)\s*\(?\s*)(['"])(@gatehouse\/[^'"]+)\2/g

/**
 * Text of a compiled module in which imports of our own packages are relative paths: those packages are never
 * published, and their names in the registry are not ours. `resolve` finds the file of a specifier; both paths are from
 * the root.
 */
export const rewriteImports = (text, file, resolve) =>
  text.replace(internal, (_match, before, quote, specifier) => {
    const relative = path.posix.relative(path.posix.dirname(file), resolve(specifier))
    return `${before}${quote}${relative.startsWith('.') ? relative : `./${relative}`}${quote}`
  })
