"""Methods that add elements to a model. Written by tools/python-elements from the schema of model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import NDArray

if TYPE_CHECKING:
    Number = float | str
    Vector = Sequence[Number] | NDArray[Any]
    Array = Sequence[Any] | NDArray[Any]


class Elements:
    """Elements of a model, one method for each type; every method returns the name of the element."""

    def add(self, section: str, name: str, /, *value: Any, **keys: Any) -> str:
        """Add an element to any section of the model, with the keys of the model file."""
        raise NotImplementedError

    def parameter(
        self,
        name: str,
        value: Any,
        *,
        count: int | None = None,
        min: float | None = None,
        max: float | None = None,
        unit: str | None = None,
        scale: Literal["linear", "log"] | None = None,
        deviation: float | None = None,
        distribution: Literal["normal", "uniform"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a parameter, by which criteria are differentiated.

        Parameters
        ----------
        name : str
            Name of the element.
        value : Any
            Nominal value; an array makes a vector.
        count : int, optional
            Number of entries of a vector.
        min : float, optional
            Lower bound.
        max : float, optional
            Upper bound.
        unit : str, optional
            Unit, for reports.
        scale : Literal['linear', 'log'], optional
            Scale that optimizers use.
        deviation : float, optional
            Standard deviation of its scatter, for ``mbgrad uncertainty``.
        distribution : Literal['normal', 'uniform'], optional
            How it scatters.
        note : str, optional
            A remark.
        """
        return self.add(
            "parameters",
            name,
            value=value,
            count=count,
            min=min,
            max=max,
            unit=unit,
            scale=scale,
            deviation=deviation,
            distribution=distribution,
            note=note,
        )

    def body(
        self,
        name: str,
        *,
        mass: Number,
        position: Vector | None = None,
        rotate: Array | Mapping[str, Any] | None = None,
        velocity: Vector | None = None,
        angular_velocity: Vector | None = None,
        in_: Literal["world", "body"] | None = None,
        shape: Any | None = None,
        motion: Literal["spatial", "planar", "point", "planar-point"] | None = None,
        axes: Literal["auto", "body", "world"] | None = None,
        inertia: Any | None = None,
        com: Vector | None = None,
        inertia_about: Literal["com", "origin"] | None = None,
        moments: Literal["physical", "any"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a rigid body with mass, centre of mass and inertia.

        Parameters
        ----------
        name : str
            Name of the element.
        mass : Number
            Mass.
        position : Vector, optional
            Origin of the body's frame.
        rotate : Array | Mapping[str, Any], optional
            Rotation of the body's frame.
        velocity : Vector, optional
            Velocity of the origin.
        angular_velocity : Vector, optional
            Angular velocity.
        in_ : Literal['world', 'body'], optional
            Axes of the two velocities.
        shape : Any, optional
            What pictures show; absent: a shape by masses and joints.
        motion : Literal['spatial', 'planar', 'point', 'planar-point'], optional
            Motion of the body.
        axes : Literal['auto', 'body', 'world'], optional
            Axes in which lie and dae step the twist of the body.
        inertia : Any, optional
            [xx, yy, zz, xy, xz, yz], [xx, yy, zz], the matrix, or (planar) zz.
        com : Vector, optional
            Centre of mass in body axes.
        inertia_about : Literal['com', 'origin'], optional
            Point that the inertia refers to, and that keeps it when the mass varies.
        moments : Literal['physical', 'any'], optional
            Any: a principal moment may exceed the sum of the others, as in files of some robots.
        note : str, optional
            A remark.
        """
        return self.add(
            "bodies",
            name,
            mass=mass,
            position=position,
            rotate=rotate,
            velocity=velocity,
            angular_velocity=angular_velocity,
            in_=in_,
            shape=shape,
            motion=motion,
            axes=axes,
            inertia=inertia,
            com=com,
            inertia_about=inertia_about,
            moments=moments,
            note=note,
        )

    def modal_body(
        self,
        name: str,
        *,
        modes: int,
        position: Vector | None = None,
        rotate: Array | Mapping[str, Any] | None = None,
        velocity: Vector | None = None,
        angular_velocity: Vector | None = None,
        in_: Literal["world", "body"] | None = None,
        shape: Any | None = None,
        motion: Literal["spatial", "planar"] | None = None,
        invariants: Any | None = None,
        beam: Any | None = None,
        files: Any | None = None,
        nodes: Any | None = None,
        damping: Number | None = None,
        mass_damping: Number | None = None,
        deformation: Array | None = None,
        deformation_rate: Array | None = None,
        note: str | None = None,
    ) -> str:
        """Add a flexible body with a floating frame and modal coordinates.

        Parameters
        ----------
        name : str
            Name of the element.
        modes : int
            Number of modal coordinates.
        position : Vector, optional
            Origin of the body's frame.
        rotate : Array | Mapping[str, Any], optional
            Rotation of the body's frame.
        velocity : Vector, optional
            Velocity of the origin.
        angular_velocity : Vector, optional
            Angular velocity.
        in_ : Literal['world', 'body'], optional
            Axes of the two velocities.
        shape : Any, optional
            What pictures show; absent: a shape by masses and joints.
        motion : Literal['spatial', 'planar'], optional
            Motion of the body.
        invariants : Any, optional
            Inertia and stiffness as given numbers, with ``nodes``.
        beam : Any, optional
            Or: a beam along x, whose modes are computed.
        files : Any, optional
            Or: matrices and nodes of a finite-element model, which is reduced.
        nodes : Any, optional
            Points for markers, with the mode shapes there.
        damping : Number, optional
            Stiffness-proportional damping: time that multiplies the stiffness matrix.
        mass_damping : Number, optional
            Mass-proportional damping: rate that multiplies the modal mass matrix.
        deformation : Array, optional
            Modal coordinates at the start, a guess.
        deformation_rate : Array, optional
            Their rates.
        note : str, optional
            A remark.
        """
        return self.add(
            "bodies",
            name,
            type="modal",
            modes=modes,
            position=position,
            rotate=rotate,
            velocity=velocity,
            angular_velocity=angular_velocity,
            in_=in_,
            shape=shape,
            motion=motion,
            invariants=invariants,
            beam=beam,
            files=files,
            nodes=nodes,
            damping=damping,
            mass_damping=mass_damping,
            deformation=deformation,
            deformation_rate=deformation_rate,
            note=note,
        )

    def beam(
        self,
        name: str,
        *,
        elements: int,
        section: Any,
        E: Any,
        rho: Any,
        from_: Vector | None = None,
        to: Vector | None = None,
        points: Array | None = None,
        direction: Vector | None = None,
        length: Number | None = None,
        curvature: Vector | None = None,
        orient: Vector | None = None,
        nu: Any | None = None,
        G: Any | None = None,
        damping: Any | None = None,
        fill: Any | None = None,
        penalty: float | None = None,
        stiffness_min: float | None = None,
        mass: Literal["consistent", "lumped"] | None = None,
        velocity: Vector | None = None,
        angular_velocity: Vector | None = None,
        note: str | None = None,
    ) -> str:
        """Add a flexible beam: nodes and elements.

        Parameters
        ----------
        name : str
            Name of the element.
        elements : int
            Number of elements.
        section : Any
            Cross section.
        E : Any
            Young's modulus.
        rho : Any
            Density.
        from_ : Vector, optional
            First node.
        to : Vector, optional
            Last node of a straight beam.
        points : Array, optional
            Points on the axis, from the first node to the last, instead of ``to``.
        direction : Vector, optional
            Tangent at the first node, with ``length``.
        length : Number, optional
            Length along the axis, instead of ``to``.
        curvature : Vector, optional
            Twist and curvatures about axes 2 and 3, with ``length``.
        orient : Vector, optional
            A vector in the half plane of axes 1 and 2 at the first node, with ``points`` at all.
        nu : Any, optional
            Poisson's ratio, or ``G``.
        G : Any, optional
            Shear modulus.
        damping : Any, optional
            Time eta of Kelvin-Voigt damping: eta times the stiffness.
        fill : Any, optional
            Filling x: stiffness times k_min + (1 - k_min) x^s, mass times x.
        penalty : float, optional
            Exponent s of the filling, 3 when absent.
        stiffness_min : float, optional
            K_min of the filling, 0.001 when absent.
        mass : Literal['consistent', 'lumped'], optional
            Mass matrix of the elements.
        velocity : Vector, optional
            Velocity of the first node; the beam moves as a rigid body.
        angular_velocity : Vector, optional
            Angular velocity.
        note : str, optional
            A remark.
        """
        return self.add(
            "beams",
            name,
            elements=elements,
            section=section,
            E=E,
            rho=rho,
            from_=from_,
            to=to,
            points=points,
            direction=direction,
            length=length,
            curvature=curvature,
            orient=orient,
            nu=nu,
            G=G,
            damping=damping,
            fill=fill,
            penalty=penalty,
            stiffness_min=stiffness_min,
            mass=mass,
            velocity=velocity,
            angular_velocity=angular_velocity,
            note=note,
        )

    def marker(
        self,
        name: str,
        *,
        on: str,
        at: Vector | None = None,
        rotate: Array | Mapping[str, Any] | None = None,
        in_: Literal["body", "world"] | None = None,
        node: str | None = None,
        shape: Any | None = None,
        note: str | None = None,
    ) -> str:
        """Add a frame fixed on a body or on the ground.

        Parameters
        ----------
        name : str
            Name of the element.
        on : str
            Body, or ground.
        at : Vector, optional
            Origin.
        rotate : Array | Mapping[str, Any], optional
            Rotation.
        in_ : Literal['body', 'world'], optional
            Axes of the body, or the world in the design configuration.
        node : str, optional
            Node of a modal body that it moves with.
        shape : Any, optional
            What pictures show there; absent: nothing.
        note : str, optional
            A remark.
        """
        return self.add(
            "markers",
            name,
            on=on,
            at=at,
            rotate=rotate,
            in_=in_,
            node=node,
            shape=shape,
            note=note,
        )

    def driver(
        self,
        name: str,
        *,
        joint: str,
        law: Number,
        coordinate: str | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint coordinate given in time.

        Parameters
        ----------
        name : str
            Name of the element.
        joint : str
            Joint.
        law : Number
            The coordinate as an expression of t.
        coordinate : str, optional
            One of its free coordinates.
        note : str, optional
            A remark.
        """
        return self.add(
            "drivers",
            name,
            joint=joint,
            law=law,
            coordinate=coordinate,
            note=note,
        )

    def table(
        self,
        name: str,
        *,
        x: Any,
        y: Any,
        z: Any | None = None,
        file: str | None = None,
        interpolation: Literal["linear", "cubic", "monotone"] | None = None,
        extrapolation: Literal["error", "hold", "extend"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a tabulated function of one argument.

        Parameters
        ----------
        name : str
            Name of the element.
        x : Any
            Arguments, increasing; with a file: the name of the column.
        y : Any
            Values, or with ``z`` the second arguments; with a file: name of the column.
        z : Any, optional
            Values of a table of two arguments, a row for each x; with a file: the column.
        file : str, optional
            CSV file beside the model.
        interpolation : Literal['linear', 'cubic', 'monotone'], optional
            Straight lines, the natural spline, or cubics that do not overshoot (one argument).
        extrapolation : Literal['error', 'hold', 'extend'], optional
            Rule for arguments outside the table.
        note : str, optional
            A remark.
        """
        return self.add(
            "tables",
            name,
            x=x,
            y=y,
            z=z,
            file=file,
            interpolation=interpolation,
            extrapolation=extrapolation,
            note=note,
        )

    def part(
        self,
        name: str,
        *,
        use: str,
        at: Vector | None = None,
        rotate: Array | Mapping[str, Any] | None = None,
        mirror: Literal["x", "y", "z"] | None = None,
        set: Any | None = None,
        bind: Any | None = None,
        note: str | None = None,
    ) -> str:
        """Add another model file used in this one.

        Parameters
        ----------
        name : str
            Name of the element.
        use : str
            Model file beside this one.
        at : Vector, optional
            Origin of the part's world.
        rotate : Array | Mapping[str, Any], optional
            Rotation of the part's world.
        mirror : Literal['x', 'y', 'z'], optional
            Reflection of the part's world, before it is moved.
        set : Any, optional
            Values of the part's parameters.
        bind : Any, optional
            Bodies of this model for the part's outer bodies.
        note : str, optional
            A remark.
        """
        return self.add(
            "parts",
            name,
            use=use,
            at=at,
            rotate=rotate,
            mirror=mirror,
            set=set,
            bind=bind,
            note=note,
        )

    def state(
        self,
        name: str,
        *,
        rate: Any,
        initial: Any | None = None,
        guess: Any | None = None,
        scale: Any | None = None,
        unit: str | None = None,
        note: str | None = None,
    ) -> str:
        """Add a first-order differential equation beside the mechanism.

        Parameters
        ----------
        name : str
            Name of the element.
        rate : Any
            Derivative by time: expression of t, names, states and signals; an array makes a vector.
        initial : Any, optional
            Value at the start, of names and signals of positions and velocities, or "steady": the rate is
            0 there; 0 when absent.
        guess : Any, optional
            Where the search for a steady value begins; 0 when absent.
        scale : Any, optional
            Typical size, for tolerances and linear equations; max(1, |initial|) when absent.
        unit : str, optional
            Unit, for reports.
        note : str, optional
            A remark.
        """
        return self.add(
            "states",
            name,
            rate=rate,
            initial=initial,
            guess=guess,
            scale=scale,
            unit=unit,
            note=note,
        )

    def coupling(
        self,
        name: str,
        *,
        terms: Array,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a relation of joint coordinates.

        Parameters
        ----------
        name : str
            Name of the element.
        terms : Array
            Joint coordinates with their factors and laws.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            terms=terms,
            constant=constant,
            note=note,
        )

    def gear(
        self,
        name: str,
        *,
        joints: Array,
        teeth: Array,
        internal: bool | None = None,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: two spur gears whose axes point the same way.

        Parameters
        ----------
        name : str
            Name of the element.
        joints : Array
            The joints whose angles are coupled.
        teeth : Array
            Numbers of teeth, or radii: of the first and of the second gear.
        internal : bool, optional
            One gear is a ring with teeth inside: both turn the same way.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="gear",
            joints=joints,
            teeth=teeth,
            internal=internal,
            constant=constant,
            note=note,
        )

    def bevel(
        self,
        name: str,
        *,
        joints: Array,
        teeth: Array,
        reverse: bool | None = None,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: two bevel gears whose axes both point away from their common point.

        Parameters
        ----------
        name : str
            Name of the element.
        joints : Array
            The joints whose angles are coupled.
        teeth : Array
            Numbers of teeth, or radii: of the first and of the second gear.
        reverse : bool, optional
            One axis points to the common point.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="bevel",
            joints=joints,
            teeth=teeth,
            reverse=reverse,
            constant=constant,
            note=note,
        )

    def belt(
        self,
        name: str,
        *,
        joints: Array,
        radii: Array,
        crossed: bool | None = None,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: a belt or chain over two wheels whose axes point the same way.

        Parameters
        ----------
        name : str
            Name of the element.
        joints : Array
            The joints whose angles are coupled.
        radii : Array
            Radii of the two wheels, or their numbers of teeth.
        crossed : bool, optional
            The belt crosses itself: the wheels turn against each other.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="belt",
            joints=joints,
            radii=radii,
            crossed=crossed,
            constant=constant,
            note=note,
        )

    def rack(
        self,
        name: str,
        *,
        pinion: str,
        rack: str,
        radius: Number,
        reverse: bool | None = None,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: a pinion that drives a rack: displacement = radius * angle.

        Parameters
        ----------
        name : str
            Name of the element.
        pinion : str
            Joint whose angle drives the rack.
        rack : str
            Joint whose displacement is coupled.
        radius : Number
            Radius of the pinion's pitch circle.
        reverse : bool, optional
            A positive angle moves the rack back.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="rack",
            pinion=pinion,
            rack=rack,
            radius=radius,
            reverse=reverse,
            constant=constant,
            note=note,
        )

    def planetary(
        self,
        name: str,
        *,
        sun: str,
        ring: str,
        carrier: str,
        teeth: Array,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: sun, ring and planet carrier; all three angles against the same housing.

        Parameters
        ----------
        name : str
            Name of the element.
        sun : str
            Joint of the sun gear.
        ring : str
            Joint of the ring gear.
        carrier : str
            Joint of the planet carrier.
        teeth : Array
            Numbers of teeth, or radii: of the sun and of the ring.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="planetary",
            sun=sun,
            ring=ring,
            carrier=carrier,
            teeth=teeth,
            constant=constant,
            note=note,
        )

    def differential(
        self,
        name: str,
        *,
        input: str,
        outputs: Array,
        ratio: Number | None = None,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: one input shaft and two outputs, whose mean it turns.

        Parameters
        ----------
        name : str
            Name of the element.
        input : str
            Joint of the input shaft.
        outputs : Array
            Joints of the two output shafts.
        ratio : Number, optional
            Turns of the input for one mean turn of the outputs, 1 when absent.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="differential",
            input=input,
            outputs=outputs,
            ratio=ratio,
            constant=constant,
            note=note,
        )

    def rates(
        self,
        name: str,
        *,
        rates: Array,
        constant: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: a linear relation of rates of joints and velocities of bodies.

        Parameters
        ----------
        name : str
            Name of the element.
        rates : Array
            Rates and velocities with their factors.
        constant : Number, optional
            Value of the sum, 0 when absent; also a function of t and controls.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="rates",
            rates=rates,
            constant=constant,
            note=note,
        )

    def tendon(
        self,
        name: str,
        *,
        length: Number,
        via: Array | None = None,
        branches: Array | None = None,
        note: str | None = None,
    ) -> str:
        """Add a coupling: an inextensible rope over markers and pulleys.

        Parameters
        ----------
        name : str
            Name of the element.
        length : Number
            Length of the tendon, also a function of t and controls.
        via : Array, optional
            Markers and pulleys in the order of the tendon.
        branches : Array, optional
            Several paths under one tension, in the place of ``via``.
        note : str, optional
            A remark.
        """
        return self.add(
            "couplings",
            name,
            type="tendon",
            length=length,
            via=via,
            branches=branches,
            note=note,
        )

    def control_input(
        self,
        name: str,
        *,
        times: Any,
        values: Any,
        file: str | None = None,
        interpolation: Literal["linear", "cubic"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a function of time given by samples.

        Parameters
        ----------
        name : str
            Name of the element.
        times : Any
            Times of the samples, increasing; with a file: the name of the column.
        values : Any
            Samples: an array, a vector parameter, or one number for all; with a file: the name of the
            column.
        file : str, optional
            CSV file beside the model.
        interpolation : Literal['linear', 'cubic'], optional
            Straight lines, or the natural spline.
        note : str, optional
            A remark.
        """
        return self.add(
            "controls",
            name,
            times=times,
            values=values,
            file=file,
            interpolation=interpolation,
            note=note,
        )

    def curve_on_curve(
        self,
        name: str,
        *,
        curve: str,
        follower: str,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        side: Literal["right", "left"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a planar curve of B on a planar curve of A: a cam with a curved follower.

        Parameters
        ----------
        name : str
            Name of the element.
        curve : str
            Curve of A, in its x-y plane.
        follower : str
            Curve of B, in its x-y plane.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        side : Literal['right', 'left'], optional
            Side of the curve of A, seen along growing s, on which B is: right (preset; outside of a curve
            that runs counterclockwise) or left.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="curve-on-curve",
            curve=curve,
            follower=follower,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            side=side,
            note=note,
        )

    def cylindrical(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: rotation about and translation along z.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="cylindrical",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def distance(
        self,
        name: str,
        *,
        length: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a massless rod between the two origins.

        Parameters
        ----------
        name : str
            Name of the element.
        length : Number
            Distance of the two points, also a function of t and controls.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="distance",
            length=length,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def fixed(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B does not move in A.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="fixed",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def flat_on_curve(
        self,
        name: str,
        *,
        curve: str,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a flat face of B (normal y) on a planar curve of A: a cam with flat follower.

        Parameters
        ----------
        name : str
            Name of the element.
        curve : str
            Curve of A, in its x-y plane.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="flat-on-curve",
            curve=curve,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def knife_edge(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B's origin does not slide along y of B.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="knife-edge",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def planar(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: motion in the plane with normal z.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="planar",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def point_on_curve(
        self,
        name: str,
        *,
        curve: str,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B's origin runs on a curve of A: a slot, the groove of a cam, a wire.

        Parameters
        ----------
        name : str
            Name of the element.
        curve : str
            Curve of A, of two or three coordinates.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="point-on-curve",
            curve=curve,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def point_on_line(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B's origin stays on z of A.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="point-on-line",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def point_on_plane(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B's origin stays in the plane with normal z of A.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="point-on-plane",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def point_on_surface(
        self,
        name: str,
        *,
        surface: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: B's origin stays on a surface of A, where a function of x, y, z is 0.

        Parameters
        ----------
        name : str
            Name of the element.
        surface : Number
            Function of x, y, z in the axes of A that is 0 on the surface, "z - a*x^2" say; its gradient
            must not vanish there.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="point-on-surface",
            surface=surface,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def prismatic(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: translation along z.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="prismatic",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def revolute(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: rotation about z.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="revolute",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def roller_on_curve(
        self,
        name: str,
        *,
        curve: str,
        radius: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        side: Literal["right", "left"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a roller about B's origin on a planar curve of A: a cam with roller follower.

        Parameters
        ----------
        name : str
            Name of the element.
        curve : str
            Curve of A, in its x-y plane.
        radius : Number
            Radius of the roller.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        side : Literal['right', 'left'], optional
            Side of the curve of A, seen along growing s, on which B is: right (preset; outside of a curve
            that runs counterclockwise) or left.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="roller-on-curve",
            curve=curve,
            radius=radius,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            side=side,
            note=note,
        )

    def rolling_ball(
        self,
        name: str,
        *,
        radius: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        stabilization: Number | None = None,
        level: Literal["velocity", "position"] | None = None,
        profile: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a ball rolls on the plane with normal z of A; its centre is B's origin.

        Parameters
        ----------
        name : str
            Name of the element.
        radius : Number
            Radius.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        stabilization : Number, optional
            Decay of the gap at level ``velocity``.
        level : Literal['velocity', 'position'], optional
            How ``lie`` and ``dae`` hold the contact: by its rate, with decay, or by its position.
        profile : Number, optional
            Height of the ground above the plane, a function of x and y in the axes of A, "0.1*sin(x)"
            say.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="rolling-ball",
            radius=radius,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            stabilization=stabilization,
            level=level,
            profile=profile,
            note=note,
        )

    def rolling_wheel(
        self,
        name: str,
        *,
        radius: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        tube: Number | None = None,
        stabilization: Number | None = None,
        level: Literal["velocity", "position"] | None = None,
        profile: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: a wheel rolls on the plane with normal z of A; its centre is B's origin, its axle z of B.

        Parameters
        ----------
        name : str
            Name of the element.
        radius : Number
            Radius to the centre of the tube.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        tube : Number, optional
            Radius of the tube, 0: a thin disc.
        stabilization : Number, optional
            Decay of the gap at level ``velocity``.
        level : Literal['velocity', 'position'], optional
            How ``lie`` and ``dae`` hold the contact: by its rate, with decay, or by its position.
        profile : Number, optional
            Height of the ground above the plane, a function of x and y in the axes of A, "0.1*sin(x)"
            say.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="rolling-wheel",
            radius=radius,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            tube=tube,
            stabilization=stabilization,
            level=level,
            profile=profile,
            note=note,
        )

    def screw(
        self,
        name: str,
        *,
        pitch: Number,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: rotation about z with proportional advance.

        Parameters
        ----------
        name : str
            Name of the element.
        pitch : Number
            Advance along z per radian.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="screw",
            pitch=pitch,
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def spherical(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: the origins coincide, all rotations are free.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="spherical",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            note=note,
        )

    def universal(
        self,
        name: str,
        *,
        cut: bool | None = None,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        axis2: Vector | None = None,
        note: str | None = None,
    ) -> str:
        """Add a joint: two rotations: about x of A, then about y of B.

        Parameters
        ----------
        name : str
            Name of the element.
        cut : bool, optional
            Hint to formulations that cut loops.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        axis2 : Vector, optional
            Second axis, with ``at`` and ``axis``.
        note : str, optional
            A remark.
        """
        return self.add(
            "joints",
            name,
            type="universal",
            cut=cut,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            axis2=axis2,
            note=note,
        )

    def actuator(
        self,
        name: str,
        *,
        force: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: force or torque given in time, by a control or by states.

        Parameters
        ----------
        name : str
            Name of the element.
        force : Number
            Force or torque that increases the coordinate, of x, v, t, controls, states and signals up to
            velocities.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="actuator",
            force=force,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            note=note,
        )

    def elastic_tendon(
        self,
        name: str,
        *,
        via: Array | None = None,
        branches: Array | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        rest: Number | None = None,
        slack: Number | None = None,
        preload: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: elastic rope over markers and pulleys.

        Parameters
        ----------
        name : str
            Name of the element.
        via : Array, optional
            Markers and pulleys in the order of the tendon.
        branches : Array, optional
            Several paths under one tension, in the place of ``via``.
        stiffness : Number, optional
            Stiffness k of the whole tendon.
        damping : Number, optional
            Damping c.
        rest : Number, optional
            Length of the unstretched tendon.
        slack : Number, optional
            Tension over which it goes slack smoothly; absent: it also pushes.
        preload : Number, optional
            Part of the tension that does not depend on the length: of a muscle or motor, too.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="elastic-tendon",
            via=via,
            branches=branches,
            stiffness=stiffness,
            damping=damping,
            rest=rest,
            slack=slack,
            preload=preload,
            note=note,
        )

    def expression_force(
        self,
        name: str,
        *,
        force: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: force or torque by an expression of signals.

        Parameters
        ----------
        name : str
            Name of the element.
        force : Number
            Force or torque that increases the coordinate, of x, v, t, controls and signals up to
            velocities.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="expression",
            force=force,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            note=note,
        )

    def friction(
        self,
        name: str,
        *,
        torque: Number,
        rate_scale: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        damping: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: dry and viscous friction, smooth at rest.

        Parameters
        ----------
        name : str
            Name of the element.
        torque : Number
            Friction torque or force T of a fast motion.
        rate_scale : Number
            Rate ws at which the friction has 76 percent of T.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        damping : Number, optional
            Viscous part c.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="friction",
            torque=torque,
            rate_scale=rate_scale,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            damping=damping,
            note=note,
        )

    def nonlinear_spring(
        self,
        name: str,
        *,
        law: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: spring with any characteristic.

        Parameters
        ----------
        name : str
            Name of the element.
        law : Number
            Tension as a function of the coordinate x and its rate v.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="nonlinear-spring",
            law=law,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            note=note,
        )

    def spring_damper(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        rest: Number | None = None,
        preload: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: linear spring and damper between two points.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        stiffness : Number, optional
            Stiffness k.
        damping : Number, optional
            Damping c.
        rest : Number, optional
            Coordinate of the unstretched spring.
        preload : Number, optional
            Constant part of the tension.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="spring-damper",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            stiffness=stiffness,
            damping=damping,
            rest=rest,
            preload=preload,
            note=note,
        )

    def stop(
        self,
        name: str,
        *,
        stiffness: Number,
        width: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        lower: Number | None = None,
        upper: Number | None = None,
        damping: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: smooth stops beyond a lower and an upper limit.

        Parameters
        ----------
        name : str
            Name of the element.
        stiffness : Number
            Stiffness k beyond the limit.
        width : Number
            Depth w over which the stiffness grows to k.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        lower : Number, optional
            Lower limit; absent: none.
        upper : Number, optional
            Upper limit; absent: none.
        damping : Number, optional
            Damping c beyond the limit.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="stop",
            stiffness=stiffness,
            width=width,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            lower=lower,
            upper=upper,
            damping=damping,
            note=note,
        )

    def torsion_about_point(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        rest: Number | None = None,
        preload: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: linear spring and damper on the polar angle of a point, many turns.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        stiffness : Number, optional
            Stiffness k.
        damping : Number, optional
            Damping c.
        rest : Number, optional
            Coordinate of the unstretched spring.
        preload : Number, optional
            Constant part of the tension.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="torsion-about-point",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            stiffness=stiffness,
            damping=damping,
            rest=rest,
            preload=preload,
            note=note,
        )

    def torsion_spring_damper(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        along: str | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        stiffness: Number | None = None,
        damping: Number | None = None,
        rest: Number | None = None,
        preload: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: linear spring and damper about an axis, many turns.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        along : str, optional
            Coordinate of B relative to A that the law acts on, with ``between``.
        joint : str, optional
            Joint, instead of ``between``.
        coordinate : str, optional
            Coordinate of the joint.
        stiffness : Number, optional
            Stiffness k.
        damping : Number, optional
            Damping c.
        rest : Number, optional
            Coordinate of the unstretched spring.
        preload : Number, optional
            Constant part of the tension.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="torsion-spring-damper",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            along=along,
            joint=joint,
            coordinate=coordinate,
            stiffness=stiffness,
            damping=damping,
            rest=rest,
            preload=preload,
            note=note,
        )

    def bushing(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        stiffness: Array | None = None,
        damping: Array | None = None,
        preload_force: Vector | None = None,
        preload_torque: Vector | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: six-dimensional spring and damper between two frames.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        stiffness : Array, optional
            Stiffness K: translation x y z, then rotation x y z, axes of B.
        damping : Array, optional
            Damping D, as stiffness.
        preload_force : Vector, optional
            Force on B at G = 1, axes of B.
        preload_torque : Vector, optional
            Torque on B at G = 1, axes of B.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="bushing",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            stiffness=stiffness,
            damping=damping,
            preload_force=preload_force,
            preload_torque=preload_torque,
            note=note,
        )

    def contact(
        self,
        name: str,
        *,
        shape: Literal["sphere-plane", "sphere-sphere", "sphere-socket", "pin-hole", "sphere-road"],
        radius: Number,
        stiffness: Number,
        width: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        on: str | None = None,
        radius_a: Number | None = None,
        exponent: Number | None = None,
        restitution: Number | None = None,
        speed: Number | None = None,
        damping: Number | None = None,
        smoothing: Number | None = None,
        friction: Number | None = None,
        static_friction: Number | None = None,
        slip_speed: Number | None = None,
        stribeck_speed: Number | None = None,
        up: Literal["x", "y", "z"] | None = None,
        road: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: contact of a sphere with a plane, sphere, socket, hole or road: Hertz, Hunt-Crossley, friction.

        Parameters
        ----------
        name : str
            Name of the element.
        shape : Literal['sphere-plane', 'sphere-sphere', 'sphere-socket', 'pin-hole', 'sphere-road']
            What touches: a sphere on B and a plane, sphere, socket, hole (about z) or road on A.
        radius : Number
            Radius r of the sphere or pin on B.
        stiffness : Number
            Stiffness k.
        width : Number
            Depth w over which the force begins smoothly.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        on : str, optional
            Marker B; A is the ground.
        radius_a : Number, optional
            Radius of the sphere, socket or hole on A.
        exponent : Number, optional
            Power n of the depth, 1 or more; 1.5: Hertz.
        restitution : Number, optional
            Coefficient of restitution e, up to 1, met at the approach speed ``speed``.
        speed : Number, optional
            Approach speed for which the restitution is given.
        damping : Number, optional
            Instead of a restitution: damping c, the force is k d^n (1 + c ddot).
        smoothing : Number, optional
            Range of c ddot, below 1, in which the force of a separation ends smoothly.
        friction : Number, optional
            Coefficient of friction of sliding.
        static_friction : Number, optional
            Coefficient of friction near rest; 0: ``friction``.
        slip_speed : Number, optional
            Sliding speed vs at which friction has 76 percent of its size.
        stribeck_speed : Number, optional
            Sliding speed over which friction falls from its static to its moving size.
        up : Literal['x', 'y', 'z'], optional
            Axis of A normal to the plane, or vertical.
        road : Number, optional
            Height of the road over x of A (over y where x is up) and time t.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="contact",
            shape=shape,
            radius=radius,
            stiffness=stiffness,
            width=width,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            on=on,
            radius_a=radius_a,
            exponent=exponent,
            restitution=restitution,
            speed=speed,
            damping=damping,
            smoothing=smoothing,
            friction=friction,
            static_friction=static_friction,
            slip_speed=slip_speed,
            stribeck_speed=stribeck_speed,
            up=up,
            road=road,
            note=note,
        )

    def drag(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        on: str | None = None,
        linear: Number | None = None,
        quadratic: Number | None = None,
        angular: Number | None = None,
        smoothing: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: linear and quadratic drag, angular drag.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        on : str, optional
            Marker B; A is the ground.
        linear : Number, optional
            Linear coefficient c1.
        quadratic : Number, optional
            Quadratic coefficient c2.
        angular : Number, optional
            Angular coefficient ca.
        smoothing : Number, optional
            Speed e below which the quadratic part is linear.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="drag",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            on=on,
            linear=linear,
            quadratic=quadratic,
            angular=angular,
            smoothing=smoothing,
            note=note,
        )

    def force(
        self,
        name: str,
        *,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        on: str | None = None,
        force: Vector | None = None,
        torque: Vector | None = None,
        in_: Literal["reference", "body", "world"] | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: force and torque by expressions of time, controls and signals.

        Parameters
        ----------
        name : str
            Name of the element.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        on : str, optional
            Marker B; A is the ground.
        force : Vector, optional
            Force at B's origin, three expressions of t, controls and signals up to velocities.
        torque : Vector, optional
            Torque, three expressions of the same names.
        in_ : Literal['reference', 'body', 'world'], optional
            Axes of force and torque: of A, of B, of the world where A is the ground.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="force",
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            on=on,
            force=force,
            torque=torque,
            in_=in_,
            note=note,
        )

    def tyre(
        self,
        name: str,
        *,
        stiffness: Number,
        radius: Number,
        between: Array | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        x: Vector | None = None,
        points: Array | None = None,
        axes: Array | None = None,
        in_: Literal["body", "world"] | None = None,
        on: str | None = None,
        damping: Number | None = None,
        slip_x: Number | None = None,
        slip_y: Number | None = None,
        slip_speed: Number | None = None,
        width: Number | None = None,
        reference_load: Number | None = None,
        friction: Number | None = None,
        friction_y: Number | None = None,
        shape_factor: Number | None = None,
        curvature: Number | None = None,
        road: Number | None = None,
        up: Literal["x", "y", "z"] | None = None,
        unilateral: bool | None = None,
        note: str | None = None,
    ) -> str:
        """Add a force: tyre on a road: vertical spring and damper, longitudinal and lateral slip.

        Parameters
        ----------
        name : str
            Name of the element.
        stiffness : Number
            Vertical stiffness kz.
        radius : Number
            Radius r0 without load.
        between : Array, optional
            The two markers or bodies.
        at : Vector, optional
            Place of both markers, in the world in the design configuration.
        axis : Vector, optional
            Direction of z of both markers, with ``at``.
        x : Vector, optional
            A vector in the half plane of z and x, with ``at`` and ``axis``.
        points : Array, optional
            Place of each marker.
        axes : Array, optional
            Direction of z of each marker, with ``points``.
        in_ : Literal['body', 'world'], optional
            Axes of ``points`` and ``axes``.
        on : str, optional
            Marker B; A is the ground.
        damping : Number, optional
            Vertical damping cz.
        slip_x : Number, optional
            Longitudinal slip stiffness cx.
        slip_y : Number, optional
            Lateral slip stiffness cy.
        slip_speed : Number, optional
            Speed v0 below which slip forces are linear in the sliding speed.
        width : Number, optional
            Unilateral: depth w over which the vertical force begins smoothly.
        reference_load : Number, optional
            Unilateral: vertical force N0 at which damping and slip stiffnesses hold; they grow with it.
        friction : Number, optional
            Unilateral: limit mux of the longitudinal force by the vertical one.
        friction_y : Number, optional
            Unilateral: limit muy of the lateral force; ``friction`` when absent.
        shape_factor : Number, optional
            Unilateral: factor C of the Magic Formula, 1 to 2, in the place of tanh; 0: tanh.
        curvature : Number, optional
            Unilateral: factor E of the Magic Formula, at most 1.
        road : Number, optional
            Height of the road at the wheel's centre x y z (in A) and time t.
        up : Literal['x', 'y', 'z'], optional
            Vertical axis of A.
        unilateral : bool, optional
            The tyre leaves the road, and its slip forces are limited by an ellipse of friction.
        note : str, optional
            A remark.
        """
        return self.add(
            "forces",
            name,
            type="tyre",
            stiffness=stiffness,
            radius=radius,
            between=between,
            at=at,
            axis=axis,
            x=x,
            points=points,
            axes=axes,
            in_=in_,
            on=on,
            damping=damping,
            slip_x=slip_x,
            slip_y=slip_y,
            slip_speed=slip_speed,
            width=width,
            reference_load=reference_load,
            friction=friction,
            friction_y=friction_y,
            shape_factor=shape_factor,
            curvature=curvature,
            road=road,
            up=up,
            unilateral=unilateral,
            note=note,
        )

    def contacts(
        self,
        name: str,
        *,
        stiffness: Number,
        width: Number,
        between: Array | None = None,
        among: Array | None = None,
        rounding: Number | None = None,
        inside: bool | None = None,
        exponent: Number | None = None,
        restitution: Number | None = None,
        speed: Number | None = None,
        damping: Number | None = None,
        smoothing: Number | None = None,
        friction: Number | None = None,
        static_friction: Number | None = None,
        slip_speed: Number | None = None,
        stribeck_speed: Number | None = None,
        up: Literal["x", "y", "z"] | None = None,
        road: Number | None = None,
        note: str | None = None,
    ) -> str:
        """Add contacts between the shapes of bodies and markers.

        Parameters
        ----------
        name : str
            Name of the element.
        stiffness : Number
            Stiffness k.
        width : Number
            Depth w over which the force begins smoothly.
        between : Array, optional
            Two sides, each a name or an array of names: bodies and markers with spheres, capsules or
            boxes as shapes, then others, or a marker without shape or the ground: a plane.
        among : Array, optional
            Instead of ``between``: names whose shapes may touch each other.
        rounding : Number, optional
            Radius of the corners of boxes, 0 when absent.
        inside : bool, optional
            The shapes of the second side are hollow: a sphere is a socket, a cylinder a hole.
        exponent : Number, optional
            Power n of the depth, 1 or more; 1.5: Hertz.
        restitution : Number, optional
            Coefficient of restitution e, up to 1, met at the approach speed ``speed``.
        speed : Number, optional
            Approach speed for which the restitution is given.
        damping : Number, optional
            Instead of a restitution: damping c, the force is k d^n (1 + c ddot).
        smoothing : Number, optional
            Range of c ddot, below 1, in which the force of a separation ends smoothly.
        friction : Number, optional
            Coefficient of friction of sliding.
        static_friction : Number, optional
            Coefficient of friction near rest; 0: ``friction``.
        slip_speed : Number, optional
            Sliding speed vs at which friction has 76 percent of its size.
        stribeck_speed : Number, optional
            Sliding speed over which friction falls from its static to its moving size.
        up : Literal['x', 'y', 'z'], optional
            Axis of A normal to the plane, or vertical.
        road : Number, optional
            Height of the road over x of A (over y where x is up) and time t.
        note : str, optional
            A remark.
        """
        return self.add(
            "contacts",
            name,
            stiffness=stiffness,
            width=width,
            between=between,
            among=among,
            rounding=rounding,
            inside=inside,
            exponent=exponent,
            restitution=restitution,
            speed=speed,
            damping=damping,
            smoothing=smoothing,
            friction=friction,
            static_friction=static_friction,
            slip_speed=slip_speed,
            stribeck_speed=stribeck_speed,
            up=up,
            road=road,
            note=note,
        )

    def signal(
        self,
        name: str,
        type: Literal[
            "acceleration",
            "accelerometer",
            "angular-acceleration",
            "angular-velocity",
            "axial-force",
            "contact",
            "control",
            "coordinate",
            "coordinate-acceleration",
            "curve-contact",
            "direction",
            "distance",
            "distance-rate",
            "energy",
            "euler-angle",
            "expression",
            "force",
            "gyroscope",
            "impulse",
            "kinetic-energy",
            "modal-acceleration",
            "modal-coordinate",
            "modal-rate",
            "position",
            "potential-energy",
            "rate",
            "reaction",
            "section-force",
            "strain",
            "strain-energy",
            "stress",
            "tendon",
            "velocity",
        ],
        *,
        of: str | None = None,
        relative_to: str | None = None,
        component: Any | None = None,
        in_: Any | None = None,
        note: str | None = None,
        joint: str | None = None,
        force: str | None = None,
        quantity: Any | None = None,
        control: str | None = None,
        unit: str | None = None,
        coordinate: str | None = None,
        on: Literal["curve", "follower"] | None = None,
        axis: Literal["x", "y", "z"] | None = None,
        sequence: Literal[
            "xyz",
            "xzy",
            "yxz",
            "yzx",
            "zxy",
            "zyx",
            "xyx",
            "xzx",
            "yxy",
            "yzy",
            "zxz",
            "zyz",
        ]
        | None = None,
        angle: Literal["first", "second", "third"] | None = None,
        value: Number | None = None,
        event: str | None = None,
        mode: int | None = None,
        driver: str | None = None,
        coupling: str | None = None,
        beam: str | None = None,
        element: Number | None = None,
        y: Number | None = None,
        z: Number | None = None,
    ) -> str:
        """Add a scalar measured during the motion.

        Parameters
        ----------
        name : str
            Name of the element.
        type : str
            Type of the signal, which decides about the other keys.
        of : str, optional
            Marker B.
        relative_to : str, optional
            Marker A; ground when absent.
        component : Any, optional
            Component x, y or z.
        in_ : Any, optional
            Axes of the components: of A (``relative_to``), of B (``of``), of the world where A is the
            ground.
        note : str, optional
            A remark.
        joint : str, optional
            Joint: of type ``distance`` for an axial force, on a curve for its contact.
        force : str, optional
            Force element.
        quantity : Any, optional
            Depth (negative: distance), normal force, or sliding speed where the shapes are nearest.
        control : str, optional
            Control.
        unit : str, optional
            Unit, for reports and plots.
        coordinate : str, optional
            Coordinate of the joint or of B relative to A.
        on : Literal['curve', 'follower'], optional
            Curve of A, or the follower of B in a curve-on-curve joint.
        axis : Literal['x', 'y', 'z'], optional
            Axis of B.
        sequence : Literal['xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx', 'xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz'], optional
            Moving axes of the three turns, the first one first.
        angle : Literal['first', 'second', 'third'], optional
            Which of the three angles.
        value : Number, optional
            Expression of t, names and other signals.
        event : str, optional
            Event with an impact.
        mode : int, optional
            Number of the mode, from 0.
        driver : str, optional
            Driver, instead of ``joint``.
        coupling : str, optional
            Coupling, instead of ``joint``.
        beam : str, optional
            Beam; absent (energies): all beams.
        element : Number, optional
            Number of the element, from 0, or "all" (stress); absent (energies): all elements.
        y : Number, optional
            Place of the fibre along axis 2.
        z : Number, optional
            Place of the fibre along axis 3.
        """
        return self.add(
            "signals",
            name,
            type=type,
            of=of,
            relative_to=relative_to,
            component=component,
            in_=in_,
            note=note,
            joint=joint,
            force=force,
            quantity=quantity,
            control=control,
            unit=unit,
            coordinate=coordinate,
            on=on,
            axis=axis,
            sequence=sequence,
            angle=angle,
            value=value,
            event=event,
            mode=mode,
            driver=driver,
            coupling=coupling,
            beam=beam,
            element=element,
            y=y,
            z=z,
        )

    def block(
        self,
        name: str,
        type: Literal[
            "pid",
            "lag",
            "lead-lag",
            "low-pass",
            "integrator",
            "delay",
            "hydraulic-cylinder",
            "dc-motor",
            "tyre",
        ],
        *,
        initial: Number | None = None,
        input: Number | None = None,
        kp: Number | None = None,
        ki: Number | None = None,
        kd: Number | None = None,
        filter: Number | None = None,
        min: Number | None = None,
        max: Number | None = None,
        tracking: Number | None = None,
        note: str | None = None,
        gain: Number | None = None,
        time: Number | None = None,
        lead: Number | None = None,
        lag: Number | None = None,
        frequency: Number | None = None,
        damping: Number | None = None,
        order: int | None = None,
        between: Array | None = None,
        pressure_a: Number | None = None,
        pressure_b: Number | None = None,
        valve: Number | None = None,
        area_a: Number | None = None,
        area_b: Number | None = None,
        volume_a: Number | None = None,
        volume_b: Number | None = None,
        length: Number | None = None,
        bulk_modulus: Number | None = None,
        flow: Number | None = None,
        supply: Number | None = None,
        tank: Number | None = None,
        leakage: Number | None = None,
        smoothing: Number | None = None,
        joint: str | None = None,
        coordinate: str | None = None,
        voltage: Number | None = None,
        resistance: Number | None = None,
        inductance: Number | None = None,
        constant: Number | None = None,
        gear: Number | None = None,
        sliding: Number | None = None,
        speed: Number | None = None,
        load: Number | None = None,
        relaxation: Number | None = None,
        stiffness: Number | None = None,
        friction: Number | None = None,
    ) -> str:
        """Add a ready controller, filter or actuator, which becomes states.

        Parameters
        ----------
        name : str
            Name of the element.
        type : str
            Type of the block, which decides about the other keys.
        initial : Number, optional
            Value of the state at the start, or "steady": the block is at rest under its input.
        input : Number, optional
            Error: target minus measured value, of t, controls, states and signals up to velocities.
        kp : Number, optional
            Proportional gain.
        ki : Number, optional
            Integral gain; absent: no integral.
        kd : Number, optional
            Derivative gain; absent: no derivative.
        filter : Number, optional
            Time constant that filters the derivative.
        min : Number, optional
            Lower limit of the output, with ``max``.
        max : Number, optional
            Upper limit of the output, reached smoothly (tanh).
        tracking : Number, optional
            Time in which the integral leaves a limit (anti-windup), kp/ki when absent.
        note : str, optional
            A remark.
        gain : Number, optional
            Factor of the input, 1 when absent.
        time : Number, optional
            Time constant.
        lead : Number, optional
            Time constant of the numerator.
        lag : Number, optional
            Time constant of the denominator.
        frequency : Number, optional
            Corner frequency.
        damping : Number, optional
            Damping ratio, 1/sqrt(2) when absent.
        order : int, optional
            Order of the approximation, 1 to 10; 4 when absent.
        between : Array, optional
            The two markers or bodies that the cylinder pushes apart.
        pressure_a : Number, optional
            Pressure at the start, or "steady" (default).
        pressure_b : Number, optional
            Pressure at the start, or "steady" (default).
        valve : Number, optional
            Position of the valve, -1 to 1; positive: the cylinder grows.
        area_a : Number, optional
            Piston area of the chamber that pushes.
        area_b : Number, optional
            Ring area of the chamber that pulls.
        volume_a : Number, optional
            Oil in chamber a at ``length``.
        volume_b : Number, optional
            Oil in chamber b at ``length``.
        length : Number, optional
            Length at which the volumes hold.
        bulk_modulus : Number, optional
            Of the oil.
        flow : Number, optional
            Flow of a throttle of the valve in the middle by root of pressure.
        supply : Number, optional
            Pressure of the pump.
        tank : Number, optional
            Pressure of the tank, 1e5 when absent.
        leakage : Number, optional
            Flow from a to b by pressure, 0 when absent.
        smoothing : Number, optional
            Pressure below which throttles are linear, 1e5 when absent.
        joint : str, optional
            Joint that the motor turns.
        coordinate : str, optional
            One of its free coordinates.
        voltage : Number, optional
            Expression of t, controls, states and signals up to velocities.
        resistance : Number, optional
            Of the winding.
        inductance : Number, optional
            Of the winding.
        constant : Number, optional
            Torque by current, and voltage by speed.
        gear : Number, optional
            Turns of the motor for one of the joint, 1 when absent.
        sliding : Number, optional
            Speed at which the tread of a stiff tyre would slide, along the force.
        speed : Number, optional
            Speed at which the wheel travels.
        load : Number, optional
            Force that presses the wheel onto the road.
        relaxation : Number, optional
            Relaxation length.
        stiffness : Number, optional
            Force by slip, of small slip.
        friction : Number, optional
            Coefficient of friction, the limit of force by load.
        """
        return self.add(
            "blocks",
            name,
            type=type,
            initial=initial,
            input=input,
            kp=kp,
            ki=ki,
            kd=kd,
            filter=filter,
            min=min,
            max=max,
            tracking=tracking,
            note=note,
            gain=gain,
            time=time,
            lead=lead,
            lag=lag,
            frequency=frequency,
            damping=damping,
            order=order,
            between=between,
            pressure_a=pressure_a,
            pressure_b=pressure_b,
            valve=valve,
            area_a=area_a,
            area_b=area_b,
            volume_a=volume_a,
            volume_b=volume_b,
            length=length,
            bulk_modulus=bulk_modulus,
            flow=flow,
            supply=supply,
            tank=tank,
            leakage=leakage,
            smoothing=smoothing,
            joint=joint,
            coordinate=coordinate,
            voltage=voltage,
            resistance=resistance,
            inductance=inductance,
            constant=constant,
            gear=gear,
            sliding=sliding,
            speed=speed,
            load=load,
            relaxation=relaxation,
            stiffness=stiffness,
            friction=friction,
        )

    def criterion(
        self,
        name: str,
        *,
        terminal: Number | None = None,
        at: str | None = None,
        firing: int | None = None,
        side: Literal["after", "before"] | None = None,
        note: str | None = None,
        integral: Number | None = None,
        least_squares: Number | None = None,
        data: Any | None = None,
        time: str | None = None,
        column: str | None = None,
        sigma: Number | None = None,
        sigma_column: str | None = None,
        weight: Number | None = None,
        smooth_maximum: Number | None = None,
        sharpness: Number | None = None,
        path: Number | None = None,
        every: Number | None = None,
        min: Number | None = None,
        max: Number | None = None,
        sum: Number | None = None,
        value: Number | None = None,
    ) -> str:
        """Add a scalar of a whole run.

        Parameters
        ----------
        name : str
            Name of the element.
        terminal : Number, optional
            Signal or expression of signals at the end, or at an event.
        at : str, optional
            Event whose last firing takes the place of the end.
        firing : int, optional
            Its firing, from 1, instead of the last.
        side : Literal['after', 'before'], optional
            After or before the event acts.
        note : str, optional
            A remark.
        integral : Number, optional
            Signal or expression of signals, integrated over time.
        least_squares : Number, optional
            Signal or expression of signals, compared with data.
        data : Any, optional
            CSV file beside the model, or the samples themselves; or given by runs.
        time : str, optional
            Column of the times; the first when absent.
        column : str, optional
            Column of the values; the second when absent.
        sigma : Number, optional
            Standard deviation: weight 1/sigma^2.
        sigma_column : str, optional
            Column of the standard deviations, instead of sigma.
        weight : Number, optional
            Weight of each sample, instead of sigma; 1 when absent.
        smooth_maximum : Number, optional
            Signal or expression of signals.
        sharpness : Number, optional
            K of (1/k) ln((1/T) int exp(k y) dt).
        path : Number, optional
            Signal or expression of signals.
        every : Number, optional
            Spacing in time; every step when absent.
        min : Number, optional
            Lower limit.
        max : Number, optional
            Upper limit.
        sum : Number, optional
            Signal or expression of signals, added over all firings of an event.
        value : Number, optional
            Expression of other criteria and names.
        """
        return self.add(
            "criteria",
            name,
            terminal=terminal,
            at=at,
            firing=firing,
            side=side,
            note=note,
            integral=integral,
            least_squares=least_squares,
            data=data,
            time=time,
            column=column,
            sigma=sigma,
            sigma_column=sigma_column,
            weight=weight,
            smooth_maximum=smooth_maximum,
            sharpness=sharpness,
            path=path,
            every=every,
            min=min,
            max=max,
            sum=sum,
            value=value,
        )
