/** The name of the function that calls each probe; '': no name. */
export const names = {
  declared: 'declared', asyncDeclared: 'asyncDeclared', generated: 'generated', arrow: 'arrow', arrowParameter: 'arrowParameter',
  destructured: 'destructured', listed: 'listed', curried: '', asyncArrow: 'asyncArrow', expression: 'expression', expressed: 'expressed', inner: 'inner', later: 'later',
  nested: 'nested', callback: '', wrapped: 'wrapped<', twice: 'twice<', anonymousDefault: 'default', method: 'method', clicked: 'clicked',
  propertyExpressed: 'expressed', getter: 'total', setter: 'total', stringKey: 'on-click', assignedLater: 'store.assignedLater',
  Legacy: 'Legacy', protoMethod: 'Legacy.prototype.protoMethod', constructor1: 'Basket', staticMethod: 'Basket.parse', classMethod: 'Basket.refresh',
  classGetter: 'Basket.price', fieldArrow: 'Basket.field', privateMethod: 'Basket.#hidden', asyncMethod: 'Basket.load', initializer: 'Wide', childConstructor: 'Child',
  classExpression: 'Named.named', anonymousClass: 'default.inside',
  defaultBase: 'default', defaultMethod: 'default.other', defaultConstructor: 'default', defaultInitializer: 'default', defaultStatic: 'default',
  stringMethod: '$route', spaceKey: 'a b', arrowKey: 'click->cart#add', escapedKey: "\u{1F6D2} 'x'", numberMethod: '12', hexMethod: '31', asyncKey: 'save/all',
  getterKey: 'total price', setterKey: 'total price', classStringMethod: 'Keyed.todos/add', staticStringMethod: 'Keyed.todos/all', generatorKey: 'Keyed.todos/each', stringField: 'Keyed.on-click',
  staticConstructor: 'Keyed.constructor', stringConstructor: 'Quoted',
};
