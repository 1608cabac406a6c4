import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec'
import type { PropertyType, SpecDatabase, TypeDefinition } from '@aws-cdk/service-spec-types'
import { isIntrinsic, type Template } from './template.ts'

let loaded: SpecDatabase | undefined

/** Types, property names, required properties and the types of values, against AWS's own specification, offline. */
export function schemaProblems(template: Template): string[] {
  loaded ??= loadAwsServiceSpecSync()
  const db = loaded
  return Object.entries(template.Resources).flatMap(([id, { Type, Properties = {} }]) => {
    const [resource] = db.lookup('resource', 'cloudFormationType', 'equals', Type)
    return resource ? objectProblems(db, id, Properties, resource.properties) : [`${id}: unknown type ${Type}`]
  })
}

function objectProblems(
  db: SpecDatabase,
  path: string,
  value: Record<string, unknown>,
  properties: TypeDefinition['properties'],
): string[] {
  const missing = Object.entries(properties)
    .filter(([name, { required }]) => required && !(name in value))
    .map(([name]) => `${path}.${name}: required`)
  const wrong = Object.entries(value).flatMap(([name, inner]) => {
    const property = properties[name]
    return property ? valueProblems(db, `${path}.${name}`, inner, property.type) : [`${path}.${name}: unknown`]
  })
  return [...missing, ...wrong]
}

function valueProblems(db: SpecDatabase, path: string, value: unknown, type: PropertyType): string[] {
  if (isIntrinsic(value)) return []
  const unless = (fits: boolean) => (fits ? [] : [`${path}: not ${type.type}`])
  switch (type.type) {
    case 'string':
    case 'date-time':
      // CloudFormation itself turns numbers and flags into text, where text is wanted.
      return unless(['string', 'number', 'boolean'].includes(typeof value))
    case 'integer':
      return unless(Number.isInteger(value))
    case 'number':
      return unless(typeof value === 'number')
    case 'boolean':
      return unless(typeof value === 'boolean')
    case 'array':
      return Array.isArray(value)
        ? value.flatMap((item, index) => valueProblems(db, `${path}[${index}]`, item, type.element))
        : unless(false)
    case 'map':
      return isObject(value)
        ? Object.entries(value).flatMap(([name, item]) => valueProblems(db, `${path}.${name}`, item, type.element))
        : unless(false)
    case 'ref':
      return isObject(value)
        ? objectProblems(db, path, value, db.get('typeDefinition', type.reference).properties)
        : unless(false)
    case 'union': {
      const tries = type.types.map((one) => valueProblems(db, path, value, one))
      return tries.some((problems) => problems.length === 0) ? [] : (tries[0] ?? [])
    }
    default:
      return []
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
